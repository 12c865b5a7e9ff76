# Developer commands. The README's own two need nothing but cargo.

# What CI does: format, lints as errors, tests; and the documentation.
check:
    cargo fmt --all --check
    cargo clippy --all-targets -- -D warnings
    KDYNO_REQUIRE_KAFKA=1 cargo test
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# The benchmarks of the parts.
bench:
    cargo bench

# kdyno beside the Java tool, librdkafka and franz-go; see benches/peers/compare.py --help.
bench-peers *arguments:
    python3 benches/peers/compare.py {{arguments}}
