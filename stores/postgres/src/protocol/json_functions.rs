//! Operators and functions of `jsonb`, which is kept as text in its one form.
//!
//! Source: PostgreSQL 15, "JSON Functions and Operators"; `utils/adt/jsonb_op.c` and `jsonfuncs.c`.

use super::error::SqlError;
use super::json::{Json, parse, put, shown};

/// The values joined, as `||` does.
pub(crate) fn json_joined(left: &str, right: &str) -> Result<String, SqlError> {
    let refused = || SqlError::new("22023", "invalid concatenation of jsonb objects");
    let joined = match (parse(left)?, parse(right)?) {
        (Json::Object(left), Json::Object(right)) => {
            let mut all = left;
            right.into_iter().for_each(|(key, value)| put(&mut all, key, value));
            Json::Object(all)
        }
        (Json::Array(left), Json::Array(right)) => Json::Array([left, right].concat()),
        (Json::Array(mut left), right) => {
            left.push(right);
            Json::Array(left)
        }
        (left, Json::Array(mut right)) => {
            right.insert(0, left);
            Json::Array(right)
        }
        (Json::Object(_), _) | (_, Json::Object(_)) => return Err(refused()),
        (left, right) => Json::Array(vec![left, right]),
    };
    Ok(shown(&joined))
}

/// The value of a key of an object, as `->` gives it.
pub(crate) fn json_of_key(json: &str, key: &str) -> Result<Option<String>, SqlError> {
    Ok(member(parse(json)?, key).map(|value| shown(&value)))
}

/// The same as text, as `->>` gives it.
pub(crate) fn json_text_of_key(json: &str, key: &str) -> Result<Option<String>, SqlError> {
    Ok(member(parse(json)?, key).and_then(|value| text(&value)))
}

/// An element of an array, from 0 on, or from the end if the number is negative.
pub(crate) fn json_of_place(json: &str, place: i64) -> Result<Option<String>, SqlError> {
    Ok(element(parse(json)?, place).map(|value| shown(&value)))
}

/// The same as text.
pub(crate) fn json_text_of_place(json: &str, place: i64) -> Result<Option<String>, SqlError> {
    Ok(element(parse(json)?, place).and_then(|value| text(&value)))
}

/// An object without a key, or an array without the elements that are this text: `-`.
pub(crate) fn json_without(json: &str, key: &str) -> Result<String, SqlError> {
    let value = match parse(json)? {
        Json::Object(mut pairs) => {
            pairs.retain(|(known, _)| known != key);
            Json::Object(pairs)
        }
        Json::Array(mut values) => {
            values.retain(|value| !matches!(value, Json::Text(text) if text == key));
            Json::Array(values)
        }
        _ => return Err(SqlError::new("22023", "cannot delete from scalar")),
    };
    Ok(shown(&value))
}

/// True if a text is a key of an object, or an element of an array, or the value itself: `?`.
pub(crate) fn json_has(json: &str, key: &str) -> Result<bool, SqlError> {
    let is_it = |value: &Json| matches!(value, Json::Text(text) if text == key);
    Ok(match parse(json)? {
        Json::Object(pairs) => pairs.iter().any(|(known, _)| known == key),
        Json::Array(values) => values.iter().any(is_it),
        value => is_it(&value),
    })
}

/// The name of the type of a value: `jsonb_typeof`.
pub(crate) fn json_type_of(json: &str) -> Result<&'static str, SqlError> {
    Ok(match parse(json)? {
        Json::Object(_) => "object",
        Json::Array(_) => "array",
        Json::Text(_) => "string",
        Json::Plain(text) => match text.as_str() {
            "null" => "null",
            "true" | "false" => "boolean",
            _ => "number",
        },
    })
}

/// A value with another one at a path: `jsonb_set`.
pub(crate) fn json_set(json: &str, path: &[String], new: &str, creates: bool) -> Result<String, SqlError> {
    let mut value = parse(json)?;
    if matches!(value, Json::Plain(_) | Json::Text(_)) {
        return Err(SqlError::new("22023", "cannot set path in scalar"));
    }
    put_at(&mut value, path, 0, &parse(new)?, creates)?;
    Ok(shown(&value))
}

fn put_at(
    value: &mut Json,
    path: &[String],
    depth: usize,
    new: &Json,
    creates: bool,
) -> Result<(), SqlError> {
    let Some(step) = path.get(depth) else { return Ok(()) };
    let is_last = depth + 1 == path.len();
    match value {
        Json::Object(pairs) => {
            let known = pairs.iter().any(|(key, _)| key == step);
            if is_last && (known || creates) {
                put(pairs, step.clone(), new.clone());
            } else if let Some((_, inner)) = pairs.iter_mut().find(|(key, _)| key == step) {
                put_at(inner, path, depth + 1, new, creates)?;
            }
        }
        Json::Array(values) => {
            let place: i64 = step.parse().map_err(|_| {
                let text = format!("path element at position {} is not an integer: \"{step}\"", depth + 1);
                SqlError::new("22P02", text)
            })?;
            let len = i64::try_from(values.len()).unwrap_or(i64::MAX);
            let from_start = if place < 0 { place.saturating_add(len) } else { place };
            match usize::try_from(from_start).ok().filter(|at| *at < values.len()) {
                Some(at) if is_last => values[at] = new.clone(),
                Some(at) => put_at(&mut values[at], path, depth + 1, new, creates)?,
                None if is_last && creates => {
                    let at = if from_start < 0 { 0 } else { values.len() };
                    values.insert(at, new.clone());
                }
                None => {}
            }
        }
        Json::Plain(_) | Json::Text(_) => {}
    }
    Ok(())
}

fn member(json: Json, key: &str) -> Option<Json> {
    let Json::Object(pairs) = json else { return None };
    pairs.into_iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

fn element(json: Json, place: i64) -> Option<Json> {
    let Json::Array(mut values) = json else { return None };
    let from_start = if place < 0 { place.checked_add(i64::try_from(values.len()).ok()?)? } else { place };
    let at = usize::try_from(from_start).ok().filter(|at| *at < values.len())?;
    Some(values.swap_remove(at))
}

/// A value as text; none for null.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Plain(text) if text == "null" => None,
        Json::Plain(text) | Json::Text(text) => Some(text.clone()),
        value => Some(shown(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_arrays_are_joined() {
        assert_eq!(json_joined(r#"{"a":1}"#, r#"{"b":2,"a":3}"#).as_deref(), Ok(r#"{"a": 3, "b": 2}"#));
        assert_eq!(json_joined("[1]", "{}").as_deref(), Ok("[1, {}]"));
        assert_eq!(json_joined("{}", "1").unwrap_err().code, "22023");
    }

    #[test]
    fn a_value_is_put_at_a_path() {
        let path = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
        let put = |json: &str, steps: &[&str], creates| json_set(json, &path(steps), "1", creates).unwrap();
        assert_eq!(put("{}", &["a"], true), r#"{"a": 1}"#);
        assert_eq!(put("{}", &["a"], false), "{}");
        assert_eq!(put(r#"{"a": [0, 0]}"#, &["a", "-1"], true), r#"{"a": [0, 1]}"#);
        assert_eq!(put(r#"{"a": {}}"#, &["b", "c"], true), r#"{"a": {}}"#);
        assert_eq!(put("[0]", &["7"], true), "[0, 1]");
        assert_eq!(json_set("1", &path(&["a"]), "1", true).unwrap_err().code, "22023");
        assert_eq!(json_set("[]", &path(&["a"]), "1", true).unwrap_err().code, "22P02");
    }
}
