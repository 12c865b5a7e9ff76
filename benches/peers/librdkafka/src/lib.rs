//! Empty: this crate only names a source to fetch.
