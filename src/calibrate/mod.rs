//! What this machine and this tool reach with no broker's work in the way.
