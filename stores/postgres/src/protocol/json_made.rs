//! Values of SQL as JSON, and JSON as rows of SQL: `json_build_object`, `json_to_recordset`.
//!
//! Source: PostgreSQL 15, `utils/adt/json.c` and `jsonfuncs.c`.

use super::error::SqlError;
use super::json::{Json, parse, quoted, shown};
use super::types::Type;
use super::value::Value;

/// An object of keys and values, with PostgreSQL's blanks.
pub(crate) fn json_object(pairs: &[Value]) -> Result<String, SqlError> {
    let mut members = Vec::new();
    for (at, pair) in pairs.chunks(2).enumerate() {
        let [key, value] = pair else {
            return Err(SqlError::new("22023", "argument list must have even number of elements"));
        };
        let key = key
            .text()
            .ok_or_else(|| SqlError::new("22023", format!("argument {} cannot be null", 2 * at + 1)))?;
        members.push(format!("{} : {}", quoted(&key), made(value)));
    }
    Ok(format!("{{{}}}", members.join(", ")))
}

/// A value as JSON.
fn made(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Json(json) => json.clone(),
        Value::Float(float) if float.0.is_finite() => float.text(),
        Value::Array(values) => format!("[{}]", values.iter().map(made).collect::<Vec<_>>().join(",")),
        Value::Time(_) => {
            quoted(&value.text().unwrap_or_default().replacen(' ', "T", 1).replace("+00", "+00:00"))
        }
        Value::Stamp(_) => quoted(&value.text().unwrap_or_default().replacen(' ', "T", 1)),
        Value::Numeric(_) => value.text().unwrap_or_default(),
        value => quoted(&value.text().unwrap_or_default()),
    }
}

/// The rows of an array of objects: a value for each of these columns, null where an object has none.
pub(crate) fn json_records(json: &str, columns: &[(String, Type)]) -> Result<Vec<Vec<Value>>, SqlError> {
    let refused = |text: &str| SqlError::new("22023", text);
    let objects = match parse(json)? {
        Json::Array(objects) => objects,
        Json::Object(_) => return Err(refused("cannot call json_to_recordset on an object")),
        _ => return Err(refused("cannot call json_to_recordset on a scalar")),
    };
    let mut rows = Vec::new();
    for object in objects {
        let Json::Object(members) = object else {
            return Err(refused("argument of json_to_recordset must be an array of objects"));
        };
        let value = |(name, ty): &(String, Type)| {
            let found = members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            read(found, *ty)
        };
        rows.push(columns.iter().map(value).collect::<Result<_, _>>()?);
    }
    Ok(rows)
}

fn read(json: Option<&Json>, ty: Type) -> Result<Value, SqlError> {
    match (json, ty) {
        (None, _) => Ok(Value::Null),
        (Some(Json::Plain(text)), _) if text == "null" => Ok(Value::Null),
        (Some(json), Type::Jsonb) => Ok(Value::Json(shown(json))),
        (Some(Json::Plain(text) | Json::Text(text)), ty) if ty != Type::Json => ty.read(text),
        // They would come with the blanks that they were written with.
        _ => Err(SqlError::unsupported("a json within a json as anything but a jsonb")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_made_of_values() {
        let text = |text: &str| Value::Text(text.to_owned());
        let pairs = [text("a"), Value::Int(1), text("b"), text("x\"y"), text("c"), Value::Time(0)];
        let shown = r#"{"a" : 1, "b" : "x\"y", "c" : "2000-01-01T00:00:00+00:00"}"#;
        assert_eq!(json_object(&pairs).as_deref(), Ok(shown));
        assert_eq!(json_object(&pairs[..1]).unwrap_err().code, "22023");
        assert_eq!(json_object(&[Value::Null, Value::Null]).unwrap_err().code, "22023");
    }

    #[test]
    fn rows_are_read_by_the_names_of_columns() {
        let columns = [("id".to_owned(), Type::Int4), ("data".to_owned(), Type::Jsonb)];
        let rows =
            json_records(r#"[{"id": 1, "data": {"b":1}}, {"id": "2", "other": 3}]"#, &columns).unwrap();
        let second = vec![Value::Int(2), Value::Null];
        assert_eq!(rows, [vec![Value::Int(1), Value::Json(r#"{"b": 1}"#.to_owned())], second]);
        assert_eq!(json_records("{}", &columns).unwrap_err().code, "22023");
    }
}
