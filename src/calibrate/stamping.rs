//! Dating and numbering one prepared batch.

use std::hint::black_box;

use super::figures::median;
use super::rig::{Shape, stock};
use crate::base::clock;
use crate::records::layout::BATCH_HEADER_BYTES;
use crate::records::stamp::Stamp;
use crate::records::writer::Identity;

/// Stamps in one measurement.
const STAMPS: u32 = 20_000;

/// Nanoseconds a stamp, the slowest of several body sizes.
pub fn stamp_ns() -> Result<f64, String> {
    let mut slowest: f64 = 0.0;
    for batch_bytes in [1 << 10, 64 << 10, 1 << 20] {
        let stock = stock(&Shape::stamped(batch_bytes))?;
        let template = &stock.templates()[0];
        let mut header = [0; BATCH_HEADER_BYTES];
        let times = (0..5).map(|_| {
            let before = clock::now();
            for number in 0..STAMPS {
                let identity = Identity {
                    producer_id: 7,
                    epoch: 0,
                    base_sequence: number as i32,
                    transactional: false,
                };
                let stamp = Stamp {
                    timestamp_ms: i64::from(number),
                    identity,
                };
                template.stamp(black_box(&mut header), black_box(&stamp));
            }
            (clock::now() - before) as f64 / f64::from(STAMPS)
        });
        slowest = slowest.max(median(times).unwrap_or(0.0));
    }
    Ok(slowest)
}
