//! Values for a list of parameters.

use std::time::Duration;

use super::Param;
use super::domain::{Domain, ValueError};
use super::kind::Kind;
use super::value::Value;

/// Values for a list of parameters: each has one.
#[derive(Clone, Debug)]
pub struct Args {
    params: &'static [Param],
    values: Vec<Value>,
}

impl Args {
    /// Every parameter at its default.
    ///
    /// # Panics
    /// When a declared default lies outside its own domain.
    #[must_use]
    pub fn defaults(params: &'static [Param]) -> Args {
        let default =
            |param: &Param| param.domain.parse(param.default).expect("a default lies in its domain");
        Args { params, values: params.iter().map(default).collect() }
    }

    /// The parameters and their values, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> + '_ {
        self.params.iter().zip(self.values.iter().copied())
    }

    /// The parameter of this name, if it is declared.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Gives a declared parameter another value.
    ///
    /// # Panics
    /// When no parameter of this name is declared.
    pub fn put(&mut self, name: &str, value: Value) {
        let at = self.params.iter().position(|param| param.name == name);
        self.values[at.expect("only declared parameters are given values")] = value;
    }

    /// Checks what depends on the lease time: the bounds and the order of spans.
    ///
    /// # Errors
    /// The first parameter that cannot have its value, and why.
    pub fn check(&self, ttl: Duration) -> Result<(), (&'static str, ValueError)> {
        self.iter()
            .try_for_each(|(param, value)| spans_fit(param, value, ttl).map_err(|why| (param.name, why)))
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// When it is not declared here.
    #[must_use]
    pub fn get<K: Kind>(&self, param: Param<K>) -> K::Value {
        self.find(param).expect("only declared parameters are asked for")
    }

    /// The value of a parameter, if it is declared here.
    #[must_use]
    pub fn find<K: Kind>(&self, param: Param<K>) -> Option<K::Value> {
        let (_, value) = self.iter().find(|(declared, _)| declared.name == param.name)?;
        Some(K::read(value).expect("a parameter is declared by the constant that it is asked for by"))
    }
}

fn spans_fit(param: &Param, value: Value, ttl: Duration) -> Result<(), ValueError> {
    let (Domain::Span { min, max } | Domain::Spans { min, max, .. }) = param.domain else { return Ok(()) };
    let Value::Spans(from, to) = value else { return Ok(()) };
    let (shortest, longest) = (from.resolve(ttl), to.resolve(ttl));
    if shortest > longest {
        return Err(ValueError::Reversed { value: value.to_string() });
    }
    if shortest < min || longest > max {
        return Err(ValueError::Outside { value: value.to_string(), domain: param.domain });
    }
    Ok(())
}
