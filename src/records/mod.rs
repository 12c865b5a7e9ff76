//! Record batches v2: written, re-stamped, read, compressed. Pure.
