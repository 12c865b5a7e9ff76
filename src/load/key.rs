//! What keys hold, each with its hash ready, so that no partition is computed per record.

mod zipf;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::arrival::Share;
use super::payload::{Digits, Lines, scaled};
use crate::base::rng::mix;
use zipf::Zipf;

/// The most keys that are kept with their hashes; a larger range is written and hashed per record.
pub const KEYS_POOLED_MAX: u64 = 1 << 20;

/// How a key is hashed for its partition.
pub type HashFn = fn(&[u8]) -> u32;

/// Which keys records have. A key drawn from `n` is a number below `n` in decimal digits.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyPlan {
    /// None.
    None,
    /// The number of the record in the run, modulo `n` when given.
    Sequence {
        /// How many keys there are.
        modulo: Option<u64>,
    },
    /// Each of `n` equally often.
    Uniform {
        /// How many keys there are, at least 1.
        n: u64,
    },
    /// Key `k` of `n` with a weight of `1 / (k + 1)^s`.
    Zipf {
        /// How many keys there are, 1 to [`KEYS_POOLED_MAX`].
        n: u64,
        /// The exponent, 0 (uniform) to 10.
        s: f64,
    },
    /// The same for all.
    Fixed(Vec<u8>),
    /// Any of these.
    Lines(Lines),
}

/// Keys as an option says them: a file is still to be read.
#[derive(Debug, Clone, PartialEq)]
pub enum KeySpec {
    /// Ready.
    Plan(KeyPlan),
    /// Lines of this file.
    File(String),
}

/// Why a text says no keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyError {
    found: String,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Unknown,
    Count,
    TooMany,
    Exponent,
    Empty,
}

/// A key and the hash of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What the hash given to [`KeyPool::prepare`] says of them.
    pub hash: u32,
}

/// The keys of a run, shared by all its clients.
#[derive(Debug)]
pub struct KeyPool {
    texts: Lines,
    hashes: Vec<u32>,
    choice: Choice,
    hash: HashFn,
    seed: u64,
}

#[derive(Debug)]
enum Choice {
    None,
    /// One of the pooled by record number.
    InOrder {
        n: u64,
    },
    /// Any of the pooled.
    Any {
        n: u64,
    },
    Weighted(Zipf),
    /// The record number itself, below `n`: too many to pool.
    Counted {
        n: u64,
    },
    /// Any number below `n`: too many to pool.
    Drawn {
        n: u64,
    },
}

/// The keys of one client.
#[derive(Debug, Clone)]
pub struct Keys {
    pool: Arc<KeyPool>,
    stream: u64,
    share: Share,
    digits: Digits,
}

impl KeyPool {
    /// Writes and hashes what `plan` names; equal seeds draw equal keys.
    ///
    /// # Errors
    /// When a count is 0 or a file has no line, or a Zipf range or exponent is out of bounds.
    pub fn prepare(plan: KeyPlan, seed: u64, hash: HashFn) -> Result<Self, KeyError> {
        let (texts, choice) = match plan {
            KeyPlan::None => (Lines::default(), Choice::None),
            KeyPlan::Sequence { modulo } => match modulo {
                Some(0) => return Err(KeyError::new("sequence:0", Problem::Count)),
                Some(n) if n <= KEYS_POOLED_MAX => (numbers(n), Choice::InOrder { n }),
                Some(n) => (Lines::default(), Choice::Counted { n }),
                None => (Lines::default(), Choice::Counted { n: u64::MAX }),
            },
            KeyPlan::Uniform { n: 0 } => return Err(KeyError::new("uniform:0", Problem::Count)),
            KeyPlan::Uniform { n } if n <= KEYS_POOLED_MAX => (numbers(n), Choice::Any { n }),
            KeyPlan::Uniform { n } => (Lines::default(), Choice::Drawn { n }),
            KeyPlan::Zipf { n, s } => {
                check_zipf(&format!("zipf:{n},{s}"), n, s)?;
                (numbers(n), Choice::Weighted(Zipf::new(n as u32, s)))
            }
            KeyPlan::Fixed(text) => {
                let texts = Lines::from_texts([&text[..]]);
                let too_large = |_| KeyError::new("fixed", Problem::TooMany);
                (texts.map_err(too_large)?, Choice::InOrder { n: 1 })
            }
            KeyPlan::Lines(lines) if lines.is_empty() => {
                return Err(KeyError::new("file", Problem::Empty));
            }
            KeyPlan::Lines(lines) => {
                let n = lines.len() as u64;
                (lines, Choice::Any { n })
            }
        };
        let hashes = (0..texts.len()).map(|index| hash(texts.get(index)));
        Ok(Self {
            hashes: hashes.collect(),
            texts,
            choice,
            hash,
            seed,
        })
    }

    /// Whether records have keys.
    pub fn has_keys(&self) -> bool {
        !matches!(self.choice, Choice::None)
    }

    /// The size of every key, when all are alike; 0 without keys.
    pub fn key_bytes_each(&self) -> Option<u64> {
        match &self.choice {
            Choice::None => Some(0),
            Choice::Counted { .. } | Choice::Drawn { .. } => None,
            _ => {
                let first = self.texts.get(0).len();
                let alike =
                    self.texts.bytes() == first * self.texts.len() && self.texts.longest() == first;
                alike.then_some(first as u64)
            }
        }
    }

    /// About how many bytes a key has: the mean of those pooled, or the most digits of a number.
    pub fn key_bytes_mean(&self) -> f64 {
        match self.choice {
            Choice::None => 0.0,
            Choice::Counted { n: u64::MAX } => 7.0,
            Choice::Counted { n } | Choice::Drawn { n } => f64::from(n.ilog10() + 1),
            _ => self.texts.bytes() as f64 / self.texts.len() as f64,
        }
    }
}

impl Keys {
    /// The keys of client `share` of `pool`'s run.
    pub fn new(pool: Arc<KeyPool>, share: Share) -> Self {
        let stream = mix(pool.seed ^ mix(KEY_STREAMS + u64::from(share.lane)));
        Self {
            pool,
            stream,
            share,
            digits: Digits::default(),
        }
    }

    /// The key of the client's record `index`: a function of seed, client and index alone.
    #[inline]
    pub fn key(&mut self, index: u64) -> Option<Key<'_>> {
        let pool = &*self.pool;
        let draw = || mix(self.stream.wrapping_add(index));
        let chosen = match &pool.choice {
            Choice::None => return None,
            Choice::InOrder { n: 1 } => 0,
            Choice::InOrder { n } => self.share.global(index) % n,
            Choice::Any { n } => scaled(draw(), *n),
            Choice::Weighted(zipf) => u64::from(zipf.rank(draw())),
            Choice::Counted { n } => {
                let number = self.share.global(index) % n;
                return Some(written(&mut self.digits, pool.hash, number));
            }
            Choice::Drawn { n } => {
                let number = scaled(draw(), *n);
                return Some(written(&mut self.digits, pool.hash, number));
            }
        } as usize;
        Some(Key {
            bytes: pool.texts.get(chosen),
            hash: pool.hashes[chosen],
        })
    }
}

impl FromStr for KeySpec {
    type Err = KeyError;

    /// Reads `none`, `sequence`, `sequence:N`, `uniform:N`, `zipf:N,S`, `fixed:TEXT` or `file:PATH`.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let error = |problem| KeyError::new(text, problem);
        let count = |number: &str| match number.replace('_', "").parse() {
            Ok(0) | Err(_) => Err(error(Problem::Count)),
            Ok(n) => Ok(n),
        };
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        Ok(Self::Plan(match (name, argument) {
            ("none", None) => KeyPlan::None,
            ("sequence", modulo) => KeyPlan::Sequence {
                modulo: modulo.map(count).transpose()?,
            },
            ("uniform", Some(n)) => KeyPlan::Uniform { n: count(n)? },
            ("zipf", Some(arguments)) => {
                let (n, s) = arguments
                    .split_once(',')
                    .ok_or_else(|| error(Problem::Exponent))?;
                let s = s.trim().parse().map_err(|_| error(Problem::Exponent))?;
                let n = count(n)?;
                check_zipf(text, n, s)?;
                KeyPlan::Zipf { n, s }
            }
            ("fixed", Some(key)) => KeyPlan::Fixed(key.as_bytes().to_vec()),
            ("file", Some("")) => return Err(error(Problem::Unknown)),
            ("file", Some(path)) => return Ok(Self::File(path.to_owned())),
            _ => return Err(error(Problem::Unknown)),
        }))
    }
}

impl KeyError {
    fn new(found: &str, problem: Problem) -> Self {
        Self {
            found: found.to_owned(),
            problem,
        }
    }
}

impl std::error::Error for KeyError {}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        match self.problem {
            Problem::Unknown => write!(
                f,
                "`{found}` names no keys: none, sequence, sequence:N, uniform:N, zipf:N,S, \
                 fixed:TEXT and file:PATH are known"
            ),
            Problem::Count => write!(f, "`{found}` needs a number of keys, at least 1"),
            Problem::TooMany => write!(
                f,
                "`{found}` is more than can be prepared: at most {KEYS_POOLED_MAX} keys"
            ),
            Problem::Exponent => write!(
                f,
                "`{found}` needs an exponent from 0 to {ZIPF_EXPONENT_MAX}, as zipf:1000,0.99"
            ),
            Problem::Empty => write!(f, "`{found}` holds no key: it has no line"),
        }
    }
}

fn check_zipf(found: &str, n: u64, s: f64) -> Result<(), KeyError> {
    if n == 0 {
        return Err(KeyError::new(found, Problem::Count));
    }
    if n > KEYS_POOLED_MAX {
        return Err(KeyError::new(found, Problem::TooMany));
    }
    if !(0.0..=ZIPF_EXPONENT_MAX).contains(&s) {
        return Err(KeyError::new(found, Problem::Exponent));
    }
    Ok(())
}

/// A key that is not pooled.
#[inline]
fn written(digits: &mut Digits, hash: HashFn, number: u64) -> Key<'_> {
    let bytes = digits.of(number);
    Key {
        bytes,
        hash: hash(bytes),
    }
}

/// The numbers below `n` as texts.
fn numbers(n: u64) -> Lines {
    let mut digits = Digits::default();
    let mut lines = Lines::default();
    for number in 0..n {
        lines.push(digits.of(number));
    }
    lines
}

/// Beyond it all records have the first key anyway.
const ZIPF_EXPONENT_MAX: f64 = 10.0;

/// Where the streams of clients' keys begin; values have theirs elsewhere.
const KEY_STREAMS: u64 = 2 << 40;

#[cfg(test)]
mod tests;
