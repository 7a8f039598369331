//! Functions whose value depends on their arguments alone: of texts, arrays and numbers.

use super::function::Function;
use crate::protocol::{SqlError, Value};

/// The value of such a function.
pub(crate) fn pure(function: Function, args: &[Value]) -> Result<Value, SqlError> {
    Ok(match (function, args) {
        (Function::NullIf, [left, right]) => {
            if left == right {
                Value::Null
            } else {
                left.clone()
            }
        }
        (Function::Concat, args) => Value::Text(args.iter().filter_map(Value::text).collect()),
        (Function::Length, [Value::Text(text)]) => Value::Int(len(text.chars().count())),
        (Function::Lower, [Value::Text(text)]) => Value::Text(text.to_lowercase()),
        (Function::Upper, [Value::Text(text)]) => Value::Text(text.to_uppercase()),
        (Function::Left, [Value::Text(text), Value::Int(count)]) => {
            Value::Text(text.chars().take(kept(text, *count)).collect())
        }
        (Function::Array, values) => Value::Array(values.to_vec()),
        (Function::ArrayAppend, [array, value]) => match array {
            Value::Array(values) => Value::Array([&values[..], std::slice::from_ref(value)].concat()),
            _ => Value::Array(vec![value.clone()]),
        },
        (Function::ArrayLength, [Value::Array(values), Value::Int(dimension)]) => {
            if *dimension == 1 && !values.is_empty() { Value::Int(len(values.len())) } else { Value::Null }
        }
        (Function::Cardinality, [Value::Array(values)]) => Value::Int(len(values.len())),
        (Function::Element, [Value::Array(values), Value::Int(place)]) => {
            let at = usize::try_from(*place).ok().and_then(|place| place.checked_sub(1));
            at.and_then(|at| values.get(at)).cloned().unwrap_or(Value::Null)
        }
        (Function::Slice, [Value::Array(values), Value::Int(from), Value::Int(to)]) => {
            let (from, to) = ((*from).max(1), (*to).min(len(values.len())));
            let range = usize::try_from(from - 1).ok().zip(usize::try_from(to).ok());
            Value::Array(range.and_then(|(from, to)| values.get(from..to)).unwrap_or_default().to_vec())
        }
        (Function::LeftAll, [Value::Array(values), Value::Int(count)]) => {
            let cut = |value: &Value| match value {
                Value::Text(text) => Value::Text(text.chars().take(kept(text, *count)).collect()),
                value => value.clone(),
            };
            Value::Array(values.iter().map(cut).collect())
        }
        _ => return Err(SqlError::unsupported("this call")),
    })
}

fn len(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// How many characters stay of so many; a negative number is of those that go.
fn kept(text: &str, count: i64) -> usize {
    let all = len(text.chars().count());
    let kept = if count < 0 { (all.saturating_add(count)).max(0) } else { count.min(all) };
    usize::try_from(kept).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_stays_within_its_array() {
        let array = Value::Array((1..=3).map(Value::Int).collect());
        let slice = |from, to| {
            pure(Function::Slice, &[array.clone(), Value::Int(from), Value::Int(to)]).unwrap().text()
        };
        assert_eq!(slice(2, i64::MAX).as_deref(), Some("{2,3}"));
        assert_eq!(slice(-5, 1).as_deref(), Some("{1}"));
        assert_eq!(slice(3, 2).as_deref(), Some("{}"));
        assert_eq!(slice(9, 20).as_deref(), Some("{}"));
    }
}
