//! Parameters as data: name, domain, default and a line of explanation.
//!
//! World, workload, every fault, every kind of store and every design declare theirs in this form, so that one reader serves scenario files and `--set`,
//! one message explains a bad value, and `picklock list faults` prints what exists. A value has one text form
//! everywhere; a range is `from..to`, in a file also `["from", "to"]`.

mod args;
mod domain;
mod kind;
mod value;

pub use args::Args;
pub use domain::{Domain, HOUR, ValueError, clip};
pub use kind::{Count, Counts, Kind, OneSpan, Shares, Spans, SpansOr, Word, YesNo, YesNoRandom};
pub use value::{Share, SpanRange, Value};

/// One parameter.
///
/// It is declared as a constant whose domain says the type of its values, stands in a table beside parameters of other types,
/// and is read by the constant:
///
/// ```
/// use picklock_sim::param::{Args, Count, Param, Word};
/// use picklock_sim::params;
///
/// const CLIENTS: Param<Count> =
///     Param { name: "clients", domain: Count(1, 1_000), default: "3", doc: "how many clients" };
/// const ASSIGN: Param<Word> =
///     Param { name: "assign", domain: Word(&["drawn", "own"]), default: "drawn", doc: "which key a client uses" };
/// const PARAMS: &[Param] = params![CLIENTS, ASSIGN];
///
/// let args = Args::defaults(PARAMS);
/// let clients: u64 = args.get(CLIENTS);
/// assert_eq!((clients, args.get(ASSIGN)), (3, "drawn"));
/// ```
///
/// A value that is used as one of another type does not compile:
///
/// ```compile_fail,E0308
/// # use picklock_sim::param::{Args, Count, Param};
/// # const CLIENTS: Param<Count> = Param { name: "clients", domain: Count(1, 9), default: "3", doc: "how many clients" };
/// # let args = Args::defaults(picklock_sim::params![CLIENTS]);
/// let clients: &str = args.get(CLIENTS);
/// ```
///
/// Nor does a name that is misspelled:
///
/// ```compile_fail,E0425
/// # use picklock_sim::param::{Args, Count, Param};
/// # const CLIENTS: Param<Count> = Param { name: "clients", domain: Count(1, 9), default: "3", doc: "how many clients" };
/// # let args = Args::defaults(picklock_sim::params![CLIENTS]);
/// let clients: u64 = args.get(CLEINTS);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Param<K = Domain> {
    /// Its name.
    pub name: &'static str,
    /// The values it takes.
    pub domain: K,
    /// Its value when not given.
    pub default: &'static str,
    /// The effect of the parameter, in one line.
    pub doc: &'static str,
}

/// A table of parameters, of whatever kinds.
#[macro_export]
macro_rules! params {
    ($($param:expr),* $(,)?) => {
        &[$($param.untyped()),*]
    };
}
