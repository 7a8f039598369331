//! The words by which a served world is asked for a fault: the form of each fault, and its hosts and times.

use std::time::Duration;

use picklock_model::plan::{Action, Target};
use picklock_model::span::Span;
use picklock_model::text::nearest;
use picklock_sim::live::CLIENTS;

/// One form.
#[derive(Debug)]
pub struct Served {
    /// The form, for messages and help; its first word is the name.
    pub form: &'static str,
    /// Reads what is done to whom; what `at`, `for` and `restart` say comes after it.
    pub read: fn(&mut Words<'_>) -> Result<(Target, Action), String>,
}

impl Served {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.form.split(' ').next().unwrap_or_default()
    }
}

/// The rest of a line.
pub struct Words<'a> {
    pub(crate) words: &'a [&'a str],
    pub(crate) hosts: &'a [&'a str],
    /// True if what says nothing about times happens at once, and lasts until it is healed.
    pub(crate) at_once: bool,
}

impl Words<'_> {
    /// The next word, which is what is named.
    pub(crate) fn next(&mut self, what: &str) -> Result<&str, String> {
        let (word, rest) =
            self.words.split_first().ok_or_else(|| format!("it ends where {what} is needed"))?;
        self.words = rest;
        Ok(word)
    }

    /// This word comes next.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), String> {
        let found = self.next(&format!("`{word}`"))?;
        if found == word { Ok(()) } else { Err(format!("`{found}` should be `{word}`")) }
    }

    /// The host that comes next.
    pub(crate) fn host(&mut self) -> Result<Target, String> {
        let hosts = self.hosts;
        let name = self.next("a host")?;
        if hosts.contains(&name) {
            return Ok(Target::host(name));
        }
        let hint = nearest(name, hosts.iter().copied()).map(|near| format!(" (did you mean `{near}`?)"));
        Err(format!("there is no host `{name}`{}; there are {}", hint.unwrap_or_default(), hosts.join(", ")))
    }

    /// A host with a server: the clients are programs outside the world, which cannot be killed from within.
    pub(crate) fn server(&mut self) -> Result<Target, String> {
        if self.words.first() == Some(&CLIENTS) {
            return Err(format!(
                "the {CLIENTS} are outside and cannot be killed: kill a server, or cut them off"
            ));
        }
        self.host()
    }

    /// The host at the other end of a connection.
    pub(crate) fn other_than(&mut self, one: &Target) -> Result<Target, String> {
        let other = self.host()?;
        if other == *one {
            return Err(
                "it needs two hosts: what one says to itself does not go through the network".to_owned()
            );
        }
        Ok(other)
    }

    /// The time behind a word, if the word comes next.
    pub(crate) fn after(&mut self, word: &str) -> Result<Option<Duration>, String> {
        if self.words.first() != Some(&word) {
            return Ok(None);
        }
        self.next(word)?;
        time(self.next(&format!("a time after `{word}`"))?).map(Some)
    }

    /// True if the next word is one of the hosts.
    pub(crate) fn names_a_host(&self) -> bool {
        self.words.first().is_some_and(|word| self.hosts.contains(word))
    }
}

/// A time without a lease to count in.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<Span>() {
        Ok(Span::Fixed(time)) => Ok(time),
        Ok(Span::Leases { .. }) => Err("there is no lease here: write a time like `5s`".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
