//! Parse, run, exit code.

fn main() -> std::process::ExitCode {
    kdyno::cli::main()
}
