//! A family of designs, and how a text spells one of them.

use super::design::Design;
use super::param::{Args, Param};

/// A set of designs that share their code and differ in the values of its parameters: `redlock` has the designs `redlock`, with every
/// parameter at its default, `redlock{nodes=7}` and others.
pub struct Family {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// The claim of its designs, in one line.
    pub claim: &'static str,
    /// The case in which they are known to break, in one line.
    pub weakness: &'static str,
    /// Their source: paper, documentation, article.
    pub source: &'static str,
    /// The parameters.
    pub params: &'static [Param],
    /// Makes a design of checked arguments.
    pub build: fn(&Args) -> Design,
}

/// The reason why the spelling of a design was not understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpellingError {
    /// The text has the wrong form.
    #[error("design `{0}` is not spelled `name` or `name{{parameter=value,...}}`")]
    Form(String),
    /// There is no such design.
    #[error("there is no design `{name}`{}; `picklock list designs` shows them all", hint(.nearest))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The most similar name, if one is near.
        nearest: Option<String>,
    },
    /// The design has no such parameter.
    #[error("design `{design}` has no parameter `{param}`; it has {known}")]
    Param {
        /// The design's name.
        design: String,
        /// The parameter given.
        param: String,
        /// Those it has.
        known: String,
    },
    /// The parameter does not take this value.
    #[error("design `{design}`: parameter `{param}` cannot be `{value}`; it takes {domain}")]
    Value {
        /// The design's name.
        design: String,
        /// The parameter.
        param: String,
        /// The value given.
        value: String,
        /// The values that it takes, in words.
        domain: String,
    },
    /// A parameter was given twice.
    #[error("design `{design}`: parameter `{param}` is given twice")]
    Twice {
        /// The design's name.
        design: String,
        /// The parameter.
        param: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl Family {
    /// The design with every parameter at its default.
    #[must_use]
    pub fn design(&self) -> Design {
        self.with(&[]).expect("the defaults of a family lie in their domains")
    }

    /// The design with these parameters given.
    ///
    /// # Errors
    /// When a parameter is unknown, given twice, or given a value outside its domain.
    pub fn with(&self, given: &[(&str, &str)]) -> Result<Design, SpellingError> {
        let args = self.check(given)?;
        let mut design = (self.build)(&args);
        design.name = self.name.into();
        let spelled: Vec<String> = args
            .iter()
            .map(|(param, value)| (param, value.to_string()))
            .filter(|(param, value)| value != param.default)
            .map(|(param, value)| format!("{}={value}", param.name))
            .collect();
        if !spelled.is_empty() {
            design.name = format!("{}{{{}}}", self.name, spelled.join(",")).into();
        }
        design.claim = self.claim.into();
        Ok(design)
    }

    fn check(&self, given: &[(&str, &str)]) -> Result<Args, SpellingError> {
        let mut args = Args::defaults(self.params);
        for (at, (name, value)) in given.iter().enumerate() {
            let param = args.param(name).ok_or_else(|| self.no_such_param(name))?;
            if given[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(SpellingError::Twice { design: self.name.into(), param: (*name).into() });
            }
            let value = param.domain.parse(value).map_err(|_| SpellingError::Value {
                design: self.name.into(),
                param: (*name).into(),
                value: (*value).into(),
                domain: param.domain.to_string(),
            })?;
            args.put(param.name, value);
        }
        Ok(args)
    }

    fn no_such_param(&self, name: &str) -> SpellingError {
        let known: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        SpellingError::Param { design: self.name.into(), param: name.into(), known }
    }
}

/// Finds the design that a text spells, among families.
///
/// # Errors
/// When the text is malformed or names an unknown design, parameter or value.
pub fn spell(families: &[&Family], text: &str) -> Result<Design, SpellingError> {
    // A message repeats what was given, but not a whole file of it.
    let clipped = |text: &str| text.chars().take(80).collect::<String>();
    let form = || SpellingError::Form(clipped(text));
    let text = text.trim();
    let (name, inner) = match text.split_once('{') {
        None => (text, ""),
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix('}').ok_or_else(form)?),
    };
    if name.is_empty() || name.contains(['}', ',', '=']) || inner.contains(['{', '}']) {
        return Err(form());
    }
    let given: Vec<(&str, &str)> = inner
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| part.split_once('=').map(|(name, value)| (name.trim(), value.trim())).ok_or_else(form))
        .collect::<Result<_, _>>()?;
    let family = families.iter().find(|family| family.name == name);
    let family = family.ok_or_else(|| SpellingError::Unknown {
        name: clipped(name),
        nearest: picklock_model::text::nearest(name, families.iter().map(|family| family.name))
            .map(Into::into),
    })?;
    family.with(&given)
}
