//! Decompression of LZF, the format in which Redis writes strings that shrink by it.
//!
//! A compressed string is a sequence of literal runs (a byte below 32: so many bytes and one more follow) and of copies of
//! what was written before (length in three bits, or in a byte more when they are all ones; distance in 13 bits).
//!
//! Source: liblzf by Marc Lehmann, <http://oldhome.schmorp.de/marc/liblzf.html>.

use super::RdbError;

/// The most bytes that three bytes of input can stand for.
const COPY_MAX: usize = 264;

const CORRUPT: RdbError = RdbError::Corrupt("invalid LZF compressed string");

/// Decompresses to exactly `length` bytes.
pub(super) fn decompress(packed: &[u8], length: usize) -> Result<Vec<u8>, RdbError> {
    // A length that the input cannot come to is refused before there is memory taken for it.
    if length > packed.len().saturating_mul(COPY_MAX) {
        return Err(CORRUPT);
    }
    let mut plain = Vec::with_capacity(length);
    let mut rest = packed;
    while !rest.is_empty() {
        let control = usize::from(take(&mut rest, 1)?[0]);
        if control < 32 {
            plain.extend_from_slice(take(&mut rest, control + 1)?);
        } else {
            let mut count = control >> 5;
            if count == 7 {
                count += usize::from(take(&mut rest, 1)?[0]);
            }
            let distance = (control & 0x1f) << 8 | usize::from(take(&mut rest, 1)?[0]);
            let start = plain.len().checked_sub(distance + 1).ok_or(CORRUPT)?;
            // Source and target may overlap: a run of one byte is a copy from one byte before.
            for at in start..start + count + 2 {
                plain.push(plain[at]);
            }
        }
        if plain.len() > length {
            return Err(CORRUPT);
        }
    }
    if plain.len() == length { Ok(plain) } else { Err(CORRUPT) }
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], RdbError> {
    let (taken, left) = rest.split_at_checked(len).ok_or(RdbError::Truncated)?;
    *rest = left;
    Ok(taken)
}
