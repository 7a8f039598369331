//! Checks a value against a JSON Schema, as far as the schemas in docs/schemas/ go: a keyword that is not known here is refused.
//!
//! The crates that know all of JSON Schema bring thirty others, for references over the network, dates and internationalised
//! names, which nothing here has.

use serde_json::{Map, Value};

/// The reason why the value does not fit; `None` if it does. A field that the schema does not name does not fit either: what is
/// written is to be described, though readers are to expect more.
pub(crate) fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let Value::Object(schema) = schema else { return Some(format!("{at}: a schema is an object")) };
    schema.iter().find_map(|(keyword, asked)| check(schema, keyword, asked, value, at))
}

fn check(
    schema: &Map<String, Value>,
    keyword: &str,
    asked: &Value,
    value: &Value,
    at: &str,
) -> Option<String> {
    let fits = |schema: &Value| misfit(schema, value, at).is_none();
    let wrong = || Some(format!("{at}: {keyword} {asked} does not fit {value}"));
    match keyword {
        "$schema" | "title" | "description" | "then" | "else" => None,
        "type" => {
            let names = asked.as_array().map_or(std::slice::from_ref(asked), Vec::as_slice);
            if names.iter().any(|name| is(name.as_str().unwrap_or(""), value)) { None } else { wrong() }
        }
        "const" => {
            if asked == value {
                None
            } else {
                wrong()
            }
        }
        "enum" => {
            if asked.as_array().is_some_and(|all| all.contains(value)) {
                None
            } else {
                wrong()
            }
        }
        "minimum" => {
            if value.as_i64().is_some_and(|it| it < asked.as_i64().unwrap_or(i64::MIN)) {
                wrong()
            } else {
                None
            }
        }
        "maximum" => {
            if value.as_u64().is_some_and(|it| it > asked.as_u64().unwrap_or(u64::MAX)) {
                wrong()
            } else {
                None
            }
        }
        // Of patterns there are only those of digests and hashes.
        "pattern" => {
            let digits = match asked.as_str() {
                Some("^[0-9a-f]{32}$") => 32,
                Some("^[0-9a-f]{16}$") => 16,
                _ => return wrong(),
            };
            let hex = |text: &str| {
                text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            };
            if value.as_str().is_some_and(hex) { None } else { wrong() }
        }
        "required" => {
            let missing =
                |name: &&Value| value.is_object() && value.get(name.as_str().unwrap_or("")).is_none();
            asked.as_array()?.iter().find(missing).map(|name| format!("{at}: {name} is missing"))
        }
        "properties" => value.as_object()?.iter().find_map(|(name, value)| match asked.get(name) {
            Some(schema) => misfit(schema, value, &format!("{at}.{name}")),
            // An `if` names what it asks about and no more.
            None if schema.contains_key("type") => Some(format!("{at}: `{name}` is not described")),
            None => None,
        }),
        "additionalProperties" if *asked == Value::Bool(false) => None,
        "additionalProperties" => {
            value.as_object()?.iter().find_map(|(name, value)| misfit(asked, value, &format!("{at}.{name}")))
        }
        "items" => {
            let items = value.as_array()?.iter().enumerate();
            items.into_iter().find_map(|(nth, item)| misfit(asked, item, &format!("{at}[{nth}]")))
        }
        "anyOf" => {
            if asked.as_array()?.iter().any(fits) {
                None
            } else {
                wrong()
            }
        }
        "allOf" => asked.as_array()?.iter().find_map(|schema| misfit(schema, value, at)),
        "if" => {
            let branch = schema.get(if fits(asked) { "then" } else { "else" });
            branch.and_then(|branch| misfit(branch, value, at))
        }
        _ => Some(format!("{at}: the keyword `{keyword}` is not known here")),
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
