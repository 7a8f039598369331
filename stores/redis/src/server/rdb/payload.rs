//! Single values as RESTORE reads them: the kind, the value, the version and a checksum over all.

use super::input::Input;
use super::{CHECKSUM, RdbError, VERSION, value};
use crate::server::store::Value;

/// The length of the version and of the checksum.
const FOOTER_LEN: usize = 10;

/// Writes a value with its footer.
pub(crate) fn dump(value: &Value) -> Vec<u8> {
    let mut out = vec![value::kind_of(value)];
    value::encode(&mut out, value);
    finished(out)
}

/// A payload without a library of functions, as a node that has none sends it beside the keys of its slots.
pub(crate) fn no_libraries() -> Vec<u8> {
    finished(Vec::new())
}

/// A payload with its footer.
fn finished(mut out: Vec<u8>) -> Vec<u8> {
    out.extend_from_slice(&VERSION.to_le_bytes());
    let checksum = CHECKSUM.checksum(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// Reads what DUMP wrote, here or on a real server. The error is what RESTORE answers with.
pub(crate) fn restore(payload: &[u8]) -> Result<Value, &'static str> {
    verified(payload).and_then(|content| parse(content).map_err(|_| "ERR Bad data format"))
}

/// The payload without its footer, if that is right.
fn verified(payload: &[u8]) -> Result<&[u8], &'static str> {
    without_footer(payload).ok_or("ERR DUMP payload version or checksum are wrong")
}

fn without_footer(payload: &[u8]) -> Option<&[u8]> {
    let (content, footer) = payload.split_at_checked(payload.len().checked_sub(FOOTER_LEN)?)?;
    let mut footer = Input::new(footer);
    let version = u16::from_le_bytes(footer.array().ok()?);
    let checksum = u64::from_le_bytes(footer.array().ok()?);
    let covered = &payload[..content.len() + 2];
    (version <= VERSION && checksum == CHECKSUM.checksum(covered)).then_some(content)
}

fn parse(content: &[u8]) -> Result<Value, RdbError> {
    let mut input = Input::new(content);
    let kind = input.byte()?;
    value::decode(kind, &mut input)?.ok_or(RdbError::Corrupt("a collection without elements"))
}
