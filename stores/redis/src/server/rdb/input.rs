//! Bytes as a decoder takes them: fixed-width numbers, lengths, strings in their four forms.

use super::{RdbError, lzf};
use crate::protocol::resp;

/// The rest of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    rest: &'a [u8],
}

/// A length, or in its place the number of a special form of a string.
enum Length {
    Plain(u64),
    Special(u8),
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], RdbError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(RdbError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], RdbError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(RdbError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, RdbError> {
        self.array().map(|[byte]| byte)
    }

    /// A signed little-endian number of one to eight bytes.
    pub(super) fn signed(&mut self, width: usize) -> Result<i64, RdbError> {
        let bytes = self.take(width)?;
        let magnitude = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let unused = 64 - 8 * u32::try_from(width).unwrap_or(8);
        Ok((magnitude << unused).cast_signed() >> unused)
    }

    /// An unsigned little-endian number of four bytes.
    pub(super) fn u32_le(&mut self) -> Result<usize, RdbError> {
        self.array().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// A binary floating-point number.
    pub(super) fn double(&mut self) -> Result<f64, RdbError> {
        self.array().map(f64::from_le_bytes)
    }

    /// A count of elements or the length of a string.
    pub(super) fn length(&mut self) -> Result<u64, RdbError> {
        match self.any_length()? {
            Length::Plain(length) => Ok(length),
            Length::Special(_) => Err(RdbError::Corrupt("a length was expected")),
        }
    }

    fn any_length(&mut self) -> Result<Length, RdbError> {
        let first = self.byte()?;
        let low = u64::from(first & 0x3f);
        Ok(match (first >> 6, first) {
            (0, _) => Length::Plain(low),
            (1, _) => Length::Plain(low << 8 | u64::from(self.byte()?)),
            (_, 0x80) => Length::Plain(u64::from(u32::from_be_bytes(self.array()?))),
            (_, 0x81) => Length::Plain(u64::from_be_bytes(self.array()?)),
            (2, _) => return Err(RdbError::Corrupt("unknown length encoding")),
            _ => Length::Special(first & 0x3f),
        })
    }

    /// A string, whatever its form.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, RdbError> {
        match self.any_length()? {
            Length::Plain(length) => self.take(size(length)?).map(<[u8]>::to_vec),
            Length::Special(form @ 0..=2) => {
                let mut digits = Vec::new();
                resp::decimal(&mut digits, self.signed(1 << form)?);
                Ok(digits)
            }
            Length::Special(3) => {
                let (packed, plain) = (size(self.length()?)?, size(self.length()?)?);
                lzf::decompress(self.take(packed)?, plain)
            }
            Length::Special(_) => Err(RdbError::Corrupt("unknown string encoding")),
        }
    }
}

/// A length of 64 bits as one of memory. One that does not fit is longer than any input.
fn size(length: u64) -> Result<usize, RdbError> {
    usize::try_from(length).map_err(|_| RdbError::Truncated)
}
