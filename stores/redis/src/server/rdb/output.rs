//! Bytes as the encoder writes them: lengths and strings.

use crate::protocol::resp;

/// Longer texts cannot be a number of four bytes.
const INTEGER_TEXT_MAX: usize = 11;

/// Appends a length in the shortest form.
pub(super) fn length(out: &mut Vec<u8>, length: usize) {
    let wide = length as u64;
    match wide {
        0..0x40 => out.push(wide as u8),
        0x40..0x4000 => out.extend_from_slice(&(0x4000 | wide as u16).to_be_bytes()),
        0x4000..=0xffff_ffff => {
            out.push(0x80);
            out.extend_from_slice(&(wide as u32).to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend_from_slice(&wide.to_be_bytes());
        }
    }
}

/// Appends a string, as a number if it is the plain text of one.
pub(super) fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    let number = if bytes.len() <= INTEGER_TEXT_MAX { resp::integer(bytes) } else { None };
    match number.map(|number| (i8::try_from(number), i16::try_from(number), i32::try_from(number))) {
        Some((Ok(number), _, _)) => out.extend_from_slice(&[0xc0, number.cast_unsigned()]),
        Some((_, Ok(number), _)) => {
            out.push(0xc1);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Some((_, _, Ok(number))) => {
            out.push(0xc2);
            out.extend_from_slice(&number.to_le_bytes());
        }
        _ => {
            length(out, bytes.len());
            out.extend_from_slice(bytes);
        }
    }
}
