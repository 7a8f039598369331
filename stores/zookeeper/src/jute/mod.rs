//! Jute, the encoding of ZooKeeper: records of big-endian numbers, strings, buffers and vectors, without names or tags. A packet is a record or several,
//! with their length before them.
//!
//! *Source:* `BinaryInputArchive.java` and `BinaryOutputArchive.java` of ZooKeeper 3.8.

mod packet;
#[cfg(test)]
mod tests;
mod types;

pub use packet::{PACKET_MAX, Packets, packet};

/// Something that is written as bytes and read again.
pub trait Record: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads it from the front.
    ///
    /// # Errors
    /// When the bytes are cut off or something else.
    fn take(from: &mut &[u8]) -> Result<Self, Malformed>;

    /// As bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Reads it from bytes of which nothing is left after it.
    ///
    /// # Errors
    /// When the bytes are something else.
    fn whole(mut from: &[u8]) -> Result<Self, Malformed> {
        let record = Self::take(&mut from)?;
        if from.is_empty() { Ok(record) } else { Err(Malformed) }
    }
}

/// Bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a malformed packet")]
pub struct Malformed;

/// Records whose fields follow each other.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::jute::Record for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(from: &mut &[u8]) -> Result<$name, $crate::jute::Malformed> {
                $(let $field = $crate::jute::Record::take(from)?;)*
                Ok($name { $($field),* })
            }
        }
    )*};
}

pub(crate) use records;
