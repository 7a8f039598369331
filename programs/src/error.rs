//! The errors in the spelling of a program.

use picklock_stores::ServersError;

/// The reason why a text names no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// There is no command.
    #[error(
        "there is no command: write it after a colon, as in `program:python3 lock.py`, and `@real` after it"
    )]
    NoCommand,
    /// The command's quotes are not closed.
    #[error("the command `{0}` has a quote that is not closed")]
    Quotes(String),
    /// A parameter is not known.
    #[error(
        "a program has no parameter `{name}`{}; it has name, stores, topology, belief, survives, fenced, renew, autonomous, clock-points, warm",
        .near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The one that was probably meant.
        near: Option<&'static str>,
    },
    /// Nobody asks an autonomous client to renew.
    #[error("an autonomous client is asked for nothing, not for a renewal either: leave `renew` out")]
    Renews,
    /// Nobody asks an autonomous client to acquire, and to close its connections.
    #[error("an autonomous client is asked for nothing, so it cannot be warmed up: leave `warm` out")]
    Warm,
    /// Its servers cannot be read, or a program cannot use them.
    #[error(transparent)]
    Servers(#[from] ServersError),
    /// There are no real servers of its topology.
    #[error("the topology `{0}` cannot be run on real servers: {1}")]
    Real(String, String),
    /// The command ends like a design on real servers.
    #[error(
        "the command `{0}` ends with `@real`, which is for a spelling: leave it out and ask for `--servers real`"
    )]
    Suffix(String),
    /// A parameter cannot have this value.
    #[error("`{name}` of a program cannot be `{value}`: it is {must}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values that are allowed.
        must: String,
    },
}
