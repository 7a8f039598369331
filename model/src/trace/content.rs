//! The content of a segment as a hash: it makes a run another one when a byte differs, and costs no room.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A 64-bit hash (XXH3) of the bytes of a segment, printed as 16 hexadecimal digits: the bytes themselves are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content(pub u64);

impl Content {
    /// That of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Content {
        Content(xxh3_64(bytes))
    }
}

impl Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Content, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16)
            .map(Content)
            .map_err(|_| serde::de::Error::custom(format!("`{text}` is not a hash of hexadecimal digits")))
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
