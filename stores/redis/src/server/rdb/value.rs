//! Values: from and to the encodings of the format.

use super::input::Input;
use super::{RdbError, kind, output, packed};
use crate::server::store::{Fields, List, Members, SortedSet, Value};

/// How a value is numbered when it is written.
pub(super) fn kind_of(value: &Value) -> u8 {
    match value {
        Value::String(_) => kind::STRING,
        Value::List(_) => kind::LIST,
        Value::Set(_) => kind::SET,
        Value::SortedSet(_) => kind::SORTED_SET_2,
        Value::Hash(_) => kind::HASH,
    }
}

/// Appends a value in the encoding of [`kind_of`].
pub(super) fn encode(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(bytes) => output::string(out, bytes),
        Value::List(items) => {
            output::length(out, items.len());
            items.iter().for_each(|item| output::string(out, item));
        }
        Value::Set(members) => {
            output::length(out, members.len());
            members.iter().for_each(|member| output::string(out, member));
        }
        Value::SortedSet(set) => {
            output::length(out, set.len());
            for (member, score) in set.iter() {
                output::string(out, member);
                out.extend_from_slice(&score.to_le_bytes());
            }
        }
        Value::Hash(fields) => {
            output::length(out, fields.len());
            for (field, value) in fields.iter() {
                output::string(out, field);
                output::string(out, value);
            }
        }
    }
}

/// Reads a value of this kind; `None` for a collection without elements, which a load leaves out.
pub(super) fn decode(kind: u8, input: &mut Input<'_>) -> Result<Option<Value>, RdbError> {
    Ok(match kind {
        kind::STRING => Some(Value::String(input.string()?)),
        kind::LIST => list(repeat(input, |input, items| push(items, input.string()?))?),
        kind::SET => set(repeat(input, |input, items| push(items, input.string()?))?)?,
        kind::HASH => hash(repeat(input, |input, items| push(items, (input.string()?, input.string()?)))?)?,
        kind::SORTED_SET => {
            sorted_set(repeat(input, |input, items| push(items, (input.string()?, text_score(input)?)))?)?
        }
        kind::SORTED_SET_2 => {
            sorted_set(repeat(input, |input, items| push(items, (input.string()?, input.double()?)))?)?
        }
        kind::LIST_ZIPLIST => list(packed::ziplist(&input.string()?)?),
        kind::LIST_QUICKLIST => list(repeat(input, |input, items| {
            items.extend(packed::ziplist(&input.string()?)?);
            Ok(())
        })?),
        kind::LIST_QUICKLIST_2 => list(repeat(input, |input, items| {
            match input.length()? {
                1 => items.push(input.string()?),
                2 => items.extend(packed::listpack(&input.string()?)?),
                _ => return Err(RdbError::Corrupt("quicklist integrity check failed")),
            }
            Ok(())
        })?),
        kind::SET_INTSET => set(packed::intset(&input.string()?)?)?,
        kind::HASH_ZIPMAP => hash(pairs(packed::zipmap(&input.string()?)?)?)?,
        kind::HASH_ZIPLIST => hash(pairs(packed::ziplist(&input.string()?)?)?)?,
        kind::HASH_LISTPACK => hash(pairs(packed::listpack(&input.string()?)?)?)?,
        kind::SORTED_SET_ZIPLIST => sorted_set(scored(packed::ziplist(&input.string()?)?)?)?,
        kind::SORTED_SET_LISTPACK => sorted_set(scored(packed::listpack(&input.string()?)?)?)?,
        kind::HASH_METADATA => return Err(RdbError::Unsupported("fields of hashes that end")),
        kind::STREAM | kind::STREAM_2 => return Err(RdbError::Unsupported("streams")),
        kind::MODULE | kind::MODULE_2 => return Err(RdbError::Unsupported("values of modules")),
        _ => return Err(RdbError::Corrupt("unknown type of value")),
    })
}

/// Reads a count and so many items. The count alone takes no memory.
fn repeat<T>(
    input: &mut Input<'_>,
    mut item: impl FnMut(&mut Input<'_>, &mut Vec<T>) -> Result<(), RdbError>,
) -> Result<Vec<T>, RdbError> {
    let mut items = Vec::new();
    for _ in 0..input.length()? {
        item(input, &mut items)?;
    }
    Ok(items)
}

fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), RdbError> {
    items.push(item);
    Ok(())
}

/// A field and its value.
type Pair = (Vec<u8>, Vec<u8>);

fn pairs(flat: Vec<Vec<u8>>) -> Result<Vec<Pair>, RdbError> {
    if !flat.len().is_multiple_of(2) {
        return Err(RdbError::Corrupt("a packed map has a field without a value"));
    }
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    let mut flat = flat.into_iter();
    while let (Some(field), Some(value)) = (flat.next(), flat.next()) {
        pairs.push((field, value));
    }
    Ok(pairs)
}

fn scored(flat: Vec<Vec<u8>>) -> Result<Vec<(Vec<u8>, f64)>, RdbError> {
    pairs(flat)?.into_iter().map(|(member, score)| Ok((member, number(&score)?))).collect()
}

fn list(items: Vec<Vec<u8>>) -> Option<Value> {
    (!items.is_empty()).then(|| Value::List(List::from(items)))
}

fn set(items: Vec<Vec<u8>>) -> Result<Option<Value>, RdbError> {
    let mut members = Members::default();
    for item in items {
        if !members.insert(item) {
            return Err(RdbError::Corrupt("duplicate set members detected"));
        }
    }
    Ok((!members.is_empty()).then_some(Value::Set(members)))
}

fn hash(items: Vec<Pair>) -> Result<Option<Value>, RdbError> {
    let mut fields = Fields::default();
    for (field, value) in items {
        if fields.insert(field, value).is_some() {
            return Err(RdbError::Corrupt("duplicate hash fields detected"));
        }
    }
    Ok((!fields.is_empty()).then_some(Value::Hash(fields)))
}

fn sorted_set(items: Vec<(Vec<u8>, f64)>) -> Result<Option<Value>, RdbError> {
    let mut set = SortedSet::default();
    for (member, score) in items {
        if score.is_nan() {
            return Err(RdbError::Corrupt("sorted set with NAN score detected"));
        }
        if set.insert(&member, score).is_some() {
            return Err(RdbError::Corrupt("duplicate sorted set members detected"));
        }
    }
    Ok((!set.is_empty()).then_some(Value::SortedSet(set)))
}

/// A score as version 7 and older wrote it: a length or a special value in one byte, then text.
fn text_score(input: &mut Input<'_>) -> Result<f64, RdbError> {
    match input.byte()? {
        253 => Ok(f64::NAN),
        254 => Ok(f64::INFINITY),
        255 => Ok(f64::NEG_INFINITY),
        length => number(input.take(usize::from(length))?),
    }
}

fn number(text: &[u8]) -> Result<f64, RdbError> {
    let text = std::str::from_utf8(text).ok();
    text.and_then(|text| text.parse().ok()).ok_or(RdbError::Corrupt("a score is no number"))
}
