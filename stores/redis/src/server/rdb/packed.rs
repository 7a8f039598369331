//! Small collections, which Redis packs into one string each: listpacks, the older ziplists and zipmaps, and intsets.
//!
//! The counts and offsets in their headers are not believed: the elements are read up to the end mark, which must be
//! where the string ends.

use super::RdbError;
use super::input::Input;
use crate::protocol::resp;

/// The mark behind the last element of all but intsets.
const END: u8 = 0xff;

/// The elements of a listpack: header of total length and count; an element is its encoding, its bytes, and how long
/// both are, to be read backwards.
pub(super) fn listpack(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    let mut input = Input::new(bytes);
    if input.u32_le()? != bytes.len() {
        return Err(RdbError::Corrupt("listpack integrity check failed"));
    }
    input.take(2)?;
    elements(input, |first, input| {
        let before = input.len() + 1;
        let element = listpack_element(first, input)?;
        input.take(match before - input.len() {
            0..=127 => 1,
            128..16_383 => 2,
            16_383..2_097_151 => 3,
            2_097_151..268_435_455 => 4,
            _ => 5,
        })?;
        Ok(element)
    })
}

fn listpack_element(first: u8, input: &mut Input<'_>) -> Result<Vec<u8>, RdbError> {
    let low = usize::from(first);
    match first {
        0x00..0x80 => Ok(digits(i64::from(first))),
        0x80..0xc0 => string(input, low & 0x3f),
        0xc0..0xe0 => {
            // A signed number of 13 bits.
            let value = i64::from(first & 0x1f) << 8 | i64::from(input.byte()?);
            Ok(digits(if value >= 1 << 12 { value - (1 << 13) } else { value }))
        }
        0xe0..0xf0 => {
            let length = (low & 0x0f) << 8 | usize::from(input.byte()?);
            string(input, length)
        }
        0xf0 => {
            let length = input.u32_le()?;
            string(input, length)
        }
        0xf1 => input.signed(2).map(digits),
        0xf2 => input.signed(3).map(digits),
        0xf3 => input.signed(4).map(digits),
        0xf4 => input.signed(8).map(digits),
        _ => Err(RdbError::Corrupt("listpack integrity check failed")),
    }
}

/// The elements of a ziplist: header of total length, offset of the tail and count; an element is the length of the one
/// before it, its encoding, and its bytes.
pub(super) fn ziplist(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    let mut input = Input::new(bytes);
    if input.u32_le()? != bytes.len() {
        return Err(RdbError::Corrupt("ziplist integrity check failed"));
    }
    input.take(6)?;
    elements(input, |before, input| {
        if before == 0xfe {
            input.take(4)?;
        }
        let first = input.byte()?;
        let low = usize::from(first & 0x3f);
        match first {
            0x00..0x40 => string(input, low),
            0x40..0x80 => {
                let length = low << 8 | usize::from(input.byte()?);
                string(input, length)
            }
            0x80..0xc0 => {
                let length = u32::from_be_bytes(input.array()?) as usize;
                string(input, length)
            }
            0xc0 => input.signed(2).map(digits),
            0xd0 => input.signed(4).map(digits),
            0xe0 => input.signed(8).map(digits),
            0xf0 => input.signed(3).map(digits),
            0xfe => input.signed(1).map(digits),
            0xf1..=0xfd => Ok(digits(i64::from(first & 0x0f) - 1)),
            _ => Err(RdbError::Corrupt("ziplist integrity check failed")),
        }
    })
}

/// The fields and values of a zipmap, one after the other.
pub(super) fn zipmap(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    let mut input = Input::new(bytes);
    input.take(1)?;
    let length = |first: u8, input: &mut Input<'_>| match first {
        0..254 => Ok(usize::from(first)),
        254 => input.u32_le(),
        255 => Err(RdbError::Corrupt("zipmap integrity check failed")),
    };
    let mut is_value = false;
    elements(input, |first, input| {
        let length = length(first, input)?;
        let unused = if is_value { input.byte()? } else { 0 };
        is_value = !is_value;
        let element = string(input, length)?;
        input.take(usize::from(unused))?;
        Ok(element)
    })
}

/// The members of an intset.
pub(super) fn intset(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RdbError> {
    let mut input = Input::new(bytes);
    let (width, count) = (input.u32_le()?, input.u32_le()?);
    if !matches!(width, 2 | 4 | 8) || count.checked_mul(width) != Some(input.len()) {
        return Err(RdbError::Corrupt("intset integrity check failed"));
    }
    (0..count).map(|_| input.signed(width).map(digits)).collect()
}

/// Reads elements up to the end mark; `element` gets the first byte of each.
fn elements(
    mut input: Input<'_>,
    mut element: impl FnMut(u8, &mut Input<'_>) -> Result<Vec<u8>, RdbError>,
) -> Result<Vec<Vec<u8>>, RdbError> {
    let mut all = Vec::new();
    loop {
        match input.byte()? {
            END if input.is_empty() => return Ok(all),
            END => return Err(RdbError::Corrupt("a packed collection goes on behind its end")),
            first => all.push(element(first, &mut input)?),
        }
    }
}

fn string(input: &mut Input<'_>, length: usize) -> Result<Vec<u8>, RdbError> {
    input.take(length).map(<[u8]>::to_vec)
}

fn digits(value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    resp::decimal(&mut out, value);
    out
}
