//! The servers that a user asks for, by the one spelling that all commands read: `sentinel`, `redlock:5`, `etcd:3`, `simulated-etcd:3`, `real-etcd:3`.
//!
//! The word before the colon is a [`Form`] of a store kind, the number counts what the form says. A prefix names the servers: simulated ones, or
//! the real ones in virtual time. Without a prefix they are simulated, unless the command has another option for it.
//!
//! A command that cannot use a form refuses it here too, so that the message is the same everywhere.

use std::fmt;
use std::str::FromStr;

use picklock_model::text::nearest;
use picklock_sim::design::Topology;
use picklock_sim::store::{Form, Store, StoreKind, Users};

use crate::KINDS;

/// The prefix of simulated servers.
const SIMULATED: &str = "simulated-";
/// The prefix of real servers.
const REAL: &str = "real-";

/// The servers of a store: their kind, their topology, and who runs them.
#[derive(Clone, Copy, Debug)]
pub struct Servers {
    kind: &'static StoreKind,
    form: &'static Form,
    /// The number of the form; 1 for a form without a number.
    number: u32,
    /// `None` if the user did not say.
    runs: Option<Runs>,
}

/// The programs that run as servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The simulated servers of picklock.
    Simulated,
    /// The product itself, in virtual time.
    Real,
}

/// The reason why a text names no servers that a command can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServersError {
    /// No kind has a form of this name.
    #[error("there is no topology `{text}`{}; there are {}", hint(.near), .forms)]
    Unknown {
        /// The text.
        text: String,
        /// The nearest name.
        near: Option<&'static str>,
        /// All forms.
        forms: String,
    },
    /// The number is absent, out of bounds, or one too many.
    #[error("the topology `{text}` must be {must}")]
    Number {
        /// The text.
        text: String,
        /// The right spelling.
        must: String,
    },
    /// A command cannot use the form.
    #[error("the topology `{text}` ({doc}) is for {users}: {instead}")]
    Users {
        /// The text.
        text: String,
        /// The servers of the form, in words.
        doc: &'static str,
        /// The commands that can use it.
        users: &'static str,
        /// The remedy, an imperative clause.
        instead: String,
    },
    /// Simulated and real servers were both asked for.
    #[error(
        "`{text}` names {named} servers, and {asked} servers are asked for as well: leave one of the two out"
    )]
    Both {
        /// The text.
        text: String,
        /// The servers that the text names.
        named: &'static str,
        /// The servers that the option or the suffix names.
        asked: &'static str,
    },
}

fn hint(near: &Option<&'static str>) -> String {
    near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

impl Servers {
    /// Reads a topology among those of these kinds.
    ///
    /// # Errors
    /// When no form has its name, or its number is not one of the form's.
    pub fn read(kinds: &[&'static StoreKind], text: &str) -> Result<Servers, ServersError> {
        let (runs, rest) = match (text.strip_prefix(SIMULATED), text.strip_prefix(REAL)) {
            (Some(rest), _) => (Some(Runs::Simulated), rest),
            (_, Some(rest)) => (Some(Runs::Real), rest),
            _ => (None, text),
        };
        let (name, number) = match rest.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (rest, None),
        };
        let forms = || kinds.iter().flat_map(|kind| kind.forms.iter().map(move |form| (*kind, form)));
        let Some((kind, form)) = forms().find(|(_, form)| form.is_called(name)) else {
            let near = nearest(name, forms().map(|(_, form)| form.name));
            return Err(ServersError::Unknown { text: text.to_owned(), near, forms: listed(kinds) });
        };
        let read = match (form.number, number) {
            (None, None) => Some(1),
            (Some(bounds), Some(number)) => {
                number.parse().ok().filter(|number| (1..=bounds.most).contains(number))
            }
            _ => None,
        };
        let number = read.ok_or_else(|| {
            let number = form.number.map(|bounds| format!(" with N from 1 to {}", bounds.most));
            let must =
                format!("`{}`{}", form.spelling(), number.unwrap_or_else(|| " without a number".to_owned()));
            ServersError::Number { text: text.to_owned(), must }
        })?;
        Ok(Servers { kind, form, number, runs })
    }

    /// The same servers, run in this way.
    ///
    /// # Errors
    /// When the user asked for the other way.
    pub fn run_as(self, runs: Runs) -> Result<Servers, ServersError> {
        match self.runs {
            Some(named) if named != runs => Err(ServersError::Both {
                text: format!("{}{}", named.prefix(), self.topology()),
                named: named.word(),
                asked: runs.word(),
            }),
            _ => Ok(self.with(runs)),
        }
    }

    /// The same servers, run in this way, whatever the user asked for.
    #[must_use]
    pub fn with(self, runs: Runs) -> Servers {
        Servers { runs: Some(runs), ..self }
    }

    /// True if the product itself runs.
    #[must_use]
    pub fn are_real(&self) -> bool {
        self.runs == Some(Runs::Real)
    }

    /// True if the user did not say whether they are simulated or real.
    #[must_use]
    pub fn are_unnamed(&self) -> bool {
        self.runs.is_none()
    }

    /// The kind of their store.
    #[must_use]
    pub fn kind(&self) -> &'static StoreKind {
        self.kind
    }

    /// Their stores for a program, which is given the addresses; simulated ones also if real servers are asked for.
    ///
    /// # Errors
    /// When a program cannot use them.
    pub fn for_programs(&self) -> Result<(Topology, Store), ServersError> {
        match self.form.users {
            Users::Programs => Ok((self.form.stores)(self.number)),
            Users::ServeAlone { instead } => Err(self.refused("`picklock serve` alone", instead.to_owned())),
        }
    }

    /// Their stores for clients outside of the world.
    ///
    /// # Errors
    /// When they are real servers.
    pub fn for_serve(&self) -> Result<(Topology, Store), ServersError> {
        if self.are_real() {
            let instead = format!(
                "`picklock serve` serves simulated servers, so use `{}` or start {} itself",
                self.topology(),
                self.kind.name
            );
            return Err(self.refused("programs and designs alone", instead));
        }
        Ok((self.form.stores)(self.number))
    }

    /// The parameters of a served world that differ from the defaults of a scenario: name and value.
    #[must_use]
    pub fn served(&self) -> &'static [(&'static str, &'static str)] {
        self.form.served
    }

    fn refused(&self, users: &'static str, instead: String) -> ServersError {
        let text = format!("{}{}", self.runs.map_or("", Runs::prefix), self.topology());
        ServersError::Users { text, doc: self.form.doc, users, instead }
    }

    /// Their topology, without the word for simulated or real.
    #[must_use]
    pub fn topology(&self) -> String {
        match self.form.number {
            Some(_) => format!("{}:{}", self.form.name, self.number),
            None => self.form.name.to_owned(),
        }
    }

    /// True if a spelling without a prefix does not say which servers run: the bare name meant the real ones once, or may mean them where
    /// the simulated ones do not suffice. Redis, the usual kind, always meant the simulated ones.
    fn need_a_prefix(&self) -> bool {
        self.kind.real.is_some() && self.kind.name != KINDS[0].name
    }
}

impl Runs {
    fn prefix(self) -> &'static str {
        match self {
            Runs::Simulated => SIMULATED,
            Runs::Real => REAL,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Runs::Simulated => "simulated",
            Runs::Real => "real",
        }
    }
}

impl FromStr for Runs {
    type Err = String;

    fn from_str(text: &str) -> Result<Runs, String> {
        let known = [Runs::Simulated, Runs::Real].into_iter().find(|runs| runs.word() == text);
        known.ok_or_else(|| format!("there are no servers `{text}`; there are `simulated` and `real`"))
    }
}

/// All forms of these kinds, with the bounds of their numbers.
#[must_use]
pub fn listed(kinds: &[&'static StoreKind]) -> String {
    let forms = kinds.iter().flat_map(|kind| kind.forms);
    let names = forms.map(|form| match form.number {
        Some(bounds) => format!("{} (N from 1 to {})", form.spelling(), bounds.most),
        None => form.spelling(),
    });
    let names: Vec<String> = names.collect();
    format!("{}; `{SIMULATED}` or `{REAL}` before a name says which servers run", names.join(", "))
}

impl Default for Servers {
    /// The usual form of the usual kind.
    fn default() -> Servers {
        let kind = KINDS[0];
        Servers { kind, form: &kind.forms[0], number: 1, runs: None }
    }
}

impl FromStr for Servers {
    type Err = ServersError;

    fn from_str(text: &str) -> Result<Servers, ServersError> {
        Servers::read(KINDS, text)
    }
}

impl fmt::Display for Servers {
    /// The spelling that means the same for every picklock on every machine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.are_real() {
            true => REAL,
            false if self.need_a_prefix() => SIMULATED,
            false => "",
        };
        write!(f, "{prefix}{}", self.topology())
    }
}

/// Servers are the same if they are spelled alike.
impl PartialEq for Servers {
    fn eq(&self, other: &Servers) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Servers {}
