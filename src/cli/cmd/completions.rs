//! `kdyno completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Failure;
use crate::cli::args::Args;

/// Prints completions for `shell`.
pub fn run(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "kdyno", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)
        .map_err(|e| Failure::Run(e.to_string()))?;
    Ok(0)
}
