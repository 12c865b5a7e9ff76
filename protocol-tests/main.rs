//! The one test binary: what kdyno does, seen from outside and at its borders.
