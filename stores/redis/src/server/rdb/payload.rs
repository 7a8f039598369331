//! Single values as DUMP writes and RESTORE reads them: the kind, the value, the version and a checksum over all; and libraries of
//! functions, as FUNCTION DUMP and RESTORE have them.

use super::input::Input;
use super::{CHECKSUM, RdbError, VERSION, file, value};
use crate::server::store::Value;

/// The length of the version and of the checksum.
const FOOTER_LEN: usize = 10;

/// Writes a value with its footer.
pub(crate) fn dump(value: &Value) -> Vec<u8> {
    let mut out = vec![value::kind_of(value)];
    value::encode(&mut out, value);
    finished(out)
}

/// Writes the code of libraries of functions with a footer.
pub(crate) fn dump_libraries<'a>(libraries: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    libraries.for_each(|code| file::library(&mut out, code));
    finished(out)
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

/// Reads the code of libraries that FUNCTION DUMP wrote. The error is what FUNCTION RESTORE answers with.
pub(crate) fn restore_libraries(payload: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut input = Input::new(verified(payload)?);
    let mut libraries = Vec::new();
    while !input.is_empty() {
        if input.byte() != Ok(file::FUNCTION) {
            return Err("ERR given type is not a function");
        }
        libraries.push(input.string().map_err(|_| "ERR Failed loading library data")?);
    }
    Ok(libraries)
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
