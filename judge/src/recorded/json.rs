//! A line of a history as JSON: one flat object.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fields::{Fields, Value};
use super::line::Line;
use super::malformed::Malformed;

/// The line as JSON, without a line break.
#[must_use]
pub fn to_json(line: &Line<'_>) -> String {
    let mut text = String::from("{");
    for (name, value) in line.fields() {
        let comma = if text.len() > 1 { "," } else { "" };
        let _ = write!(text, "{comma}\"{name}\":");
        match value {
            Value::Text(words) => text.push_str(&serde_json::Value::from(words).to_string()),
            Value::Int(number) => _ = write!(text, "{number}"),
            Value::Bool(flag) => _ = write!(text, "{flag}"),
            Value::Nothing | Value::Other(_) => text.push_str("null"),
        }
    }
    text.push('}');
    text
}

/// Reads the fields of a line.
pub(super) fn fields(text: &str) -> Result<Fields<'_>, Malformed> {
    let mut json = serde_json::Deserializer::from_str(text);
    let object = (&mut json).deserialize_map(Object).and_then(|fields| json.end().map(|()| fields));
    object.map_err(|error| {
        let message = error.to_string();
        let (said, _) = message.split_once(" at line ").unwrap_or((&message, ""));
        Malformed::new(format!(
            "column {}: not a JSON object: {said}; a line holds one flat object, whole",
            error.column()
        ))
    })
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(10);
        while let Some(Text(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(fields)
    }
}

/// A text, borrowed if it holds no escapes.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text<'de>, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Words)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value<'de>, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Other("a number with a point or beyond 64 bits"))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an object"))
    }
}
