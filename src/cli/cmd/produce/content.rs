//! What records hold: values and keys, prepared before the clock starts.

use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::args::{Mode, Produce};
use crate::client::partition::Partitioner;
use crate::client::settings::Settings;
use crate::load::arrival::Share;
use crate::load::key::{KeyPlan, KeyPool, KeySpec, Keys};
use crate::load::payload::{self, Content, Lines, Pool, Values};
use crate::load::source::Source;
use crate::load::stock::{Stock, StockPlan};
use crate::records::compress::Compression;
use crate::records::writer::EncodedHeaders;

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

/// Prepared batches of them, where they are asked for.
pub fn stock(
    args: &Produce,
    settings: &Settings,
    values: &Arc<Pool>,
    keys: &Arc<KeyPool>,
    headers: &EncodedHeaders,
) -> Result<Option<Arc<Stock>>, Failure> {
    if args.mode == Mode::Assembled {
        return Ok(None);
    }
    let producer = &settings.producer;
    let by_key = matches!(
        producer.partitioner,
        Partitioner::Default {
            ignore_keys: false,
            ..
        }
    );
    if args.key != "none" && by_key {
        return Err(Failure::Usage(
            "--mode stamped: keys can't choose the partitions of batches that are prepared; \
             -X partitioner.ignore.keys=true lets them go anywhere"
                .into(),
        ));
    }
    let plan = StockPlan {
        batch_bytes: producer.batch_bytes,
        compression: producer.compression,
    };
    let source = Source {
        values: Values::new(Arc::clone(values), Share::ALL),
        keys: Keys::new(Arc::clone(keys), Share::ALL),
        headers: headers.clone(),
    };
    let stock = Stock::prepare(plan, source).map_err(|e| Failure::Run(e.to_string()))?;
    let (largest, limit) = (stock.batch_bytes_max(), producer.request_bytes_max);
    if largest > limit || largest as u64 > producer.buffer_bytes {
        return Err(Failure::Usage(format!(
            "--mode stamped: a prepared batch of {largest} bytes is beyond max.request.size or \
             buffer.memory"
        )));
    }
    Ok(Some(Arc::new(stock)))
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
