//! A run that is worth keeping: one JSON file that replays it years later and says whether it came out the same.
//!
//! The last field is a checksum over every byte before it, so that any damage is found before the plan is believed.
//! A repro file of another version of picklock still replays; its digest is compared, and a difference is reported. The digest of
//! an older form was taken in another way and is not compared.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::plan::Plan;
use crate::trace::Digest;

/// The version of the repro file's form. It changes with the meaning of a field or the encoding behind the digest.
pub const FORMAT: u32 = 4;

/// From this form on digests are what they are today: in form 3 they covered sentences, and before it no byte that is sent.
const SAME_DIGESTS_SINCE: u32 = 4;

/// The note on a repro file whose digest was taken in another way.
pub const NOT_COMPARED: &str = "digest of an older form: not compared";

/// A repro file larger than this is not read: 16 MiB.
pub const SIZE_MAX: u64 = 16 << 20;

/// A plan with everything that is needed to run it again and to know what came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReproFile {
    /// [`FORMAT`].
    #[serde(alias = "capsule")]
    pub repro: u32,
    /// The version of picklock that made it.
    pub picklock: String,
    /// The design's spelling.
    pub design: String,
    /// The scenario that the plan was drawn from.
    pub scenario: String,
    /// The servers' shape: true if the scenario put the design on replicated stores.
    pub replicated: bool,
    /// The engine of the run.
    pub engine: String,
    /// The invariants that the run violated, in name order.
    pub violations: Vec<String>,
    /// The digest of its trace.
    pub digest: Digest,
    /// The files that the design was made of besides picklock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The plan of the run.
    pub plan: Plan,
}

/// A file that a design is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Where it is.
    pub file: String,
    /// The digest of what it holds: 128 bits (XXH3) as 32 hexadecimal digits.
    pub digest: String,
}

/// The reason why a file is not a repro file.
#[derive(Debug, thiserror::Error)]
pub enum ReproError {
    /// It does not end with a checksum.
    #[error(
        "it does not end with a checksum: the file is cut short or is not a repro file; write it anew with `picklock run --out DIR`"
    )]
    NoChecksum,
    /// Its bytes are not those that were written.
    #[error(
        "its checksum does not match: the file was damaged or edited; write it anew with `picklock run --out DIR`"
    )]
    Checksum,
    /// Its JSON does not have a repro file's form.
    #[error("line {line}, column {column}: {message}")]
    Form {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The mistake.
        message: String,
    },
    /// It was written by a later picklock.
    #[error(
        "its form is {0}, and this picklock reads forms up to {FORMAT}; use the picklock that wrote it or a later one"
    )]
    Later(u32),
    /// Its plan asks for something that no world has.
    #[error("its plan cannot be run: {0}")]
    Plan(#[from] crate::plan::PlanError),
}

const MARK: &str = "\n  \"checksum\": \"";

impl ReproFile {
    /// The repro file as the text of its file.
    ///
    /// # Panics
    /// Never: a repro file has no part that JSON cannot carry.
    #[must_use]
    pub fn to_text(&self) -> String {
        let json =
            serde_json::to_string_pretty(self).expect("a repro file holds numbers, texts and lists only");
        let body = json.strip_suffix("\n}").expect("a struct's JSON ends with its brace");
        let body = format!("{body},");
        let sum = xxh3_128(body.as_bytes());
        format!("{body}{MARK}{sum:032x}\"\n}}\n")
    }

    /// True if this is the digest of its run; none if the digest that it keeps was taken in another way.
    #[must_use]
    pub fn is_its_digest(&self, digest: Digest) -> Option<bool> {
        (self.repro >= SAME_DIGESTS_SINCE).then_some(self.digest == digest)
    }

    /// Reads the text of a repro file.
    ///
    /// # Errors
    /// See [`ReproError`].
    pub fn from_text(text: &str) -> Result<ReproFile, ReproError> {
        let (body, rest) = text.rsplit_once(MARK).ok_or(ReproError::NoChecksum)?;
        let sum = rest.strip_suffix("\"\n}\n").ok_or(ReproError::NoChecksum)?;
        if sum != format!("{:032x}", xxh3_128(body.as_bytes())) {
            return Err(ReproError::Checksum);
        }
        let json = format!("{}\n}}", body.strip_suffix(',').unwrap_or(body));
        let misshapen = |error: serde_json::Error| ReproError::Form {
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        };
        let form: Form = serde_json::from_str(&json).map_err(misshapen)?;
        let repro: ReproFile = match form.repro {
            form if form > FORMAT => return Err(ReproError::Later(form)),
            1 => serde_json::from_str(&json).and_then(form_1::read).map_err(misshapen)?,
            _ => serde_json::from_str(&json).map_err(misshapen)?,
        };
        repro.plan.validate()?;
        Ok(repro)
    }
}

/// The fields that are read first.
#[derive(Deserialize)]
struct Form {
    #[serde(alias = "capsule")]
    repro: u32,
}

/// Form 1 kept the parameters of the one kind of store that there was among those of the world.
mod form_1 {
    use serde_json::{Map, Value};

    use super::ReproFile;

    /// The parameters, as both forms spell them.
    const OF_THE_STORE: [&str; 3] = ["replicas", "persistence", "down_after_ns"];

    pub(super) fn read(mut repro: Value) -> serde_json::Result<ReproFile> {
        if let Some(Value::Object(world)) = repro.pointer_mut("/plan/world") {
            let mut store: Map<String, Value> = Map::new();
            for name in OF_THE_STORE {
                store.extend(world.remove(name).map(|value| (name.to_owned(), value)));
            }
            if let Some(Value::Object(mut least)) = world.remove("min_replicas") {
                store.extend(least.remove("count").map(|count| ("min_replicas".to_owned(), count)));
                store.extend(least.remove("max_lag_ns").map(|lag| ("max_lag_ns".to_owned(), lag)));
            }
            world.insert("store".to_owned(), Value::Object(store));
        }
        serde_json::from_value(repro)
    }
}
