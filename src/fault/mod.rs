//! The fault language that the embedded broker and the proxy will share.
