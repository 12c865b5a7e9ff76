//! What records hold: values and keys, prepared before the clock starts.

use crate::cli::Failure;
use crate::cli::args::Produce;
use crate::client::settings::Settings;
use crate::load::key::{KeyPlan, KeyPool, KeySpec};
use crate::load::payload::{self, Content, Lines, Pool};
use crate::records::compress::Compression;

/// The values.
pub fn values(args: &Produce, settings: &Settings, seed: u64) -> Result<Pool, Failure> {
    let content = match (args.compressibility, args.payload.as_str()) {
        _ if args.payload_file.is_some() => {
            let path = args.payload_file.as_deref().unwrap_or_default();
            Content::Lines(read_lines("--payload-file", path)?)
        }
        (Some(share), _) => Content::Compressible(share),
        (None, "letters") => Content::Letters,
        (None, "bytes") => Content::Bytes,
        (None, "zeros") => Content::Zeros,
        (None, other) => {
            return Err(Failure::Usage(format!(
                "--payload {other}: letters, bytes or zeros is wanted"
            )));
        }
    };
    let compressed = settings.producer.compression != Compression::None;
    let sizes = args.record_size.parse();
    Pool::prepare(payload::Plan {
        content,
        sizes: sizes.map_err(|e| Failure::Usage(format!("--record-size: {e}")))?,
        null_ratio: args.null_values,
        pool_bytes: payload::pool_bytes(settings.producer.batch_bytes, compressed),
        seed,
    })
    .map_err(|e| Failure::Usage(e.to_string()))
}

/// The keys, hashed as the settings say.
pub fn keys(args: &Produce, settings: &Settings, seed: u64) -> Result<KeyPool, Failure> {
    let spec: KeySpec = args
        .key
        .parse()
        .map_err(|e| Failure::Usage(format!("--key: {e}")))?;
    let plan = match spec {
        KeySpec::Plan(plan) => plan,
        KeySpec::File(path) => KeyPlan::Lines(read_lines("--key file", &path)?),
    };
    KeyPool::prepare(plan, seed, settings.key_hash.function())
        .map_err(|e| Failure::Usage(format!("--key: {e}")))
}

/// The lines of a file, or of standard input where it is called -.
fn read_lines(option: &str, path: &str) -> Result<Lines, Failure> {
    let unreadable = |e: std::io::Error| Failure::Usage(format!("{option} {path}: {e}"));
    let lines = if path == "-" {
        Lines::read(std::io::stdin().lock())
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        Lines::read(std::io::BufReader::new(file))
    };
    let lines = lines.map_err(unreadable)?;
    if lines.is_empty() {
        return Err(Failure::Usage(format!("{option} {path}: it has no lines")));
    }
    Ok(lines)
}
