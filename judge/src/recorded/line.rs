//! One line of a history: which fields there are, and which go with what.

use std::borrow::Cow;

use picklock_model::text::nearest;
use picklock_model::trace::Role;

use super::fields::{Fields, Value};
use super::malformed::{Malformed, clipped};

/// How an operation stands after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It begins.
    Invoke,
    /// It took effect.
    Ok,
    /// It did not take effect.
    Fail,
    /// Nobody knows whether it took effect; or the line states a fact.
    Info,
}

/// The operation of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A process asks for the lock. It holds it from `ok` on.
    Acquire,
    /// A process lets go. It no longer holds from `invoke` on.
    Release,
    /// A process changes what the lock guards, and learns what became of that.
    Change,
    /// A process knows that it no longer holds.
    Lose,
    /// A process goes by its grant still.
    Hold,
    /// A process died, or all of a host.
    Crash,
    /// A host runs again.
    Restart,
    /// The role of a host, and the uncertainty of its clock.
    Host,
    /// A store made the record of a lock.
    Created,
    /// A store extended it.
    Extended,
    /// A store deleted it because it was asked to.
    Deleted,
    /// A store dropped it because its lease ran out.
    Expired,
    /// A store no longer has it.
    Lost,
    /// A replica takes writes from now on.
    Promoted,
    /// A store takes no writes from now on.
    Demoted,
    /// The resource was read.
    Read,
    /// The resource was written.
    Written,
    /// What is guarded lies in a store that has this value only: what was written later is lost.
    Restored,
    /// Something was taken from the resource, or too little was left.
    Taken,
    /// The resource refused an operation for its token.
    Refused,
}

const OPERATIONS: [(&str, Operation); 20] = [
    ("acquire", Operation::Acquire),
    ("release", Operation::Release),
    ("change", Operation::Change),
    ("lose", Operation::Lose),
    ("hold", Operation::Hold),
    ("crash", Operation::Crash),
    ("restart", Operation::Restart),
    ("host", Operation::Host),
    ("created", Operation::Created),
    ("extended", Operation::Extended),
    ("deleted", Operation::Deleted),
    ("expired", Operation::Expired),
    ("lost", Operation::Lost),
    ("promoted", Operation::Promoted),
    ("demoted", Operation::Demoted),
    ("read", Operation::Read),
    ("written", Operation::Written),
    ("restored", Operation::Restored),
    ("taken", Operation::Taken),
    ("refused", Operation::Refused),
];

const ENDINGS: [(&str, Ending); 4] =
    [("invoke", Ending::Invoke), ("ok", Ending::Ok), ("fail", Ending::Fail), ("info", Ending::Info)];

const ROLES: [(&str, Role); 4] = [
    ("client", Role::Client),
    ("store", Role::Leader),
    ("replica", Role::Follower),
    ("resource", Role::Resource),
];

/// All fields, in the order in which they are written.
const FIELDS: [&str; 23] = [
    "history",
    "time_ns",
    "host",
    "process",
    "type",
    "f",
    "key",
    "grant",
    "owner",
    "token",
    "shared",
    "value",
    "amount",
    "left",
    "taken",
    "role",
    "clock",
    "uncertainty_ns",
    "error",
    "quorum",
    "holders",
    "sharing",
    "reentrant",
];

impl Operation {
    /// Its name in a history.
    #[must_use]
    pub fn name(self) -> &'static str {
        OPERATIONS.iter().find(|(_, one)| *one == self).map_or("?", |(name, _)| name)
    }

    /// True if it is begun and ended by lines of their own; else its only line states a fact.
    pub(super) fn takes_time(self) -> bool {
        matches!(self, Operation::Acquire | Operation::Release | Operation::Change)
    }

    /// The role of the host of such a line.
    pub(super) fn belongs_to(self) -> Option<Role> {
        match self {
            Operation::Acquire
            | Operation::Release
            | Operation::Change
            | Operation::Lose
            | Operation::Hold => Some(Role::Client),
            Operation::Created
            | Operation::Extended
            | Operation::Deleted
            | Operation::Expired
            | Operation::Lost
            | Operation::Promoted
            | Operation::Demoted => Some(Role::Leader),
            Operation::Read
            | Operation::Written
            | Operation::Restored
            | Operation::Taken
            | Operation::Refused => Some(Role::Resource),
            Operation::Crash | Operation::Restart | Operation::Host => None,
        }
    }

    fn needs(self) -> &'static [&'static str] {
        match self {
            Operation::Host | Operation::Crash | Operation::Restart => &[],
            Operation::Promoted | Operation::Demoted => &[],
            Operation::Written | Operation::Read | Operation::Restored => &["key", "value"],
            Operation::Taken => &["key", "amount", "left", "taken"],
            Operation::Refused => &["key", "token"],
            _ => &["key"],
        }
    }

    fn may_have(self) -> &'static [&'static str] {
        match self {
            Operation::Host => &["role", "clock", "uncertainty_ns"],
            Operation::Acquire => &["process", "grant", "owner", "token", "shared", "error"],
            Operation::Release | Operation::Lose | Operation::Hold | Operation::Change => {
                &["process", "grant", "error"]
            }
            Operation::Crash => &["process"],
            Operation::Restart | Operation::Promoted | Operation::Demoted | Operation::Restored => &[],
            Operation::Read | Operation::Written | Operation::Taken => &["grant", "token"],
            _ => &["grant"],
        }
    }
}

/// One line. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line<'a> {
    /// The version of the form, in the first line only.
    pub history: Option<u32>,
    /// When, on the clock of the host, in nanoseconds.
    pub time: Option<u64>,
    /// On which host.
    pub host: Option<Cow<'a, str>>,
    /// Which process, thread or task of the host.
    pub process: Option<Cow<'a, str>>,
    /// How the operation stands.
    pub ending: Option<Ending>,
    /// Its operation.
    pub operation: Option<Operation>,
    /// The key that is locked.
    pub key: Option<Cow<'a, str>>,
    /// The name of the grant.
    pub grant: Option<Cow<'a, str>>,
    /// The holder, as the store knows it.
    pub owner: Option<Cow<'a, str>>,
    /// The fencing token.
    pub token: Option<u64>,
    /// True if others that share may hold too.
    pub shared: Option<bool>,
    /// The value that the resource holds.
    pub value: Option<i64>,
    /// How much was asked for.
    pub amount: Option<i64>,
    /// How much is left.
    pub left: Option<i64>,
    /// True if it was there to be taken.
    pub taken: Option<bool>,
    /// The role of the host.
    pub role: Option<Role>,
    /// The name of the clock that it reads, where other hosts read it too.
    pub clock: Option<Cow<'a, str>>,
    /// How far the clock of the host may be off, either way, in nanoseconds.
    pub uncertainty: Option<u64>,
    /// Why.
    pub error: Option<Cow<'a, str>>,
    /// How many stores must have made the record before the lock is granted.
    pub quorum: Option<u32>,
    /// How many may hold at the same time.
    pub holders: Option<u32>,
    /// True if grants can be shared.
    pub sharing: Option<bool>,
    /// True if a process that holds may acquire once more.
    pub reentrant: Option<bool>,
}

impl<'a> Line<'a> {
    /// Reads the fields of a line.
    pub(super) fn of(fields: Fields<'a>) -> Result<Line<'a>, Malformed> {
        let mut line = Line::default();
        let mut seen = 0_u32;
        for (name, value) in fields {
            let Some(at) = FIELDS.iter().position(|field| *field == name) else { return Err(unknown(&name)) };
            if seen & (1 << at) != 0 {
                return Err(Malformed::of(&name, "it stands there twice: leave one out"));
            }
            seen |= 1 << at;
            if value != Value::Nothing {
                line.set(FIELDS[at], value)?;
            }
        }
        line.check()?;
        Ok(line)
    }

    fn set(&mut self, name: &'static str, value: Value<'a>) -> Result<(), Malformed> {
        match name {
            "history" => self.history = Some(small(name, value)?),
            "time_ns" => self.time = Some(instant(name, value)?),
            "host" => self.host = Some(name_of(name, value)?),
            "process" => self.process = Some(name_of(name, value)?),
            "type" => self.ending = Some(one_of(name, value, &ENDINGS)?),
            "f" => self.operation = Some(one_of(name, value, &OPERATIONS)?),
            "key" => self.key = Some(name_of(name, value)?),
            "grant" => self.grant = Some(name_of(name, value)?),
            "owner" => self.owner = Some(name_of(name, value)?),
            "token" => self.token = Some(number(name, value)?),
            "shared" => self.shared = Some(flag(name, value)?),
            "value" => self.value = Some(signed(name, value)?),
            "amount" => self.amount = Some(signed(name, value)?),
            "left" => self.left = Some(signed(name, value)?),
            "taken" => self.taken = Some(flag(name, value)?),
            "role" => self.role = Some(one_of(name, value, &ROLES)?),
            "clock" => self.clock = Some(name_of(name, value)?),
            "uncertainty_ns" => self.uncertainty = Some(instant(name, value)?),
            // Whatever it says, it is for people.
            "error" => self.error = Some(name_of(name, value).unwrap_or(Cow::Borrowed("an error"))),
            "quorum" => self.quorum = Some(small(name, value)?),
            "holders" => self.holders = Some(small(name, value)?),
            "sharing" => self.sharing = Some(flag(name, value)?),
            _ => self.reentrant = Some(flag(name, value)?),
        }
        Ok(())
    }

    /// `Ok` if all is there that such a line needs, and nothing that it cannot have.
    fn check(&self) -> Result<(), Malformed> {
        let there: Vec<&str> = self.fields().iter().map(|(name, _)| *name).collect();
        if self.history.is_some() {
            let settings = ["history", "quorum", "holders", "sharing", "reentrant"];
            return match there.iter().find(|name| !settings.contains(name)) {
                Some(name) => {
                    Err(Malformed::of(name, "it does not go with `history`: give it a line of its own"))
                }
                None => Ok(()),
            };
        }
        let operation = self.operation.ok_or_else(|| missing("f", "\"acquire\""))?;
        let ending =
            self.ending.ok_or_else(|| missing("type", "\"invoke\", \"ok\", \"fail\" or \"info\""))?;
        if !operation.takes_time() && ending != Ending::Info {
            let message = format!("`{}` states a fact: write \"info\"", operation.name());
            return Err(Malformed::of("type", message));
        }
        if self.host.is_none() {
            return Err(missing("host", "the name of the machine whose clock `time_ns` is"));
        }
        if self.time.is_none() && operation != Operation::Host {
            return Err(missing("time_ns", "the host's clock in nanoseconds"));
        }
        for need in operation.needs() {
            if !there.contains(need) {
                return Err(Malformed::of(need, format!("it is missing: `{}` needs it", operation.name())));
            }
        }
        let common = ["time_ns", "host", "type", "f"];
        let goes = |name: &&str| {
            common.contains(name) || operation.needs().contains(name) || operation.may_have().contains(name)
        };
        match there.iter().find(|name| !goes(name)) {
            Some(name) => {
                Err(Malformed::of(name, format!("`{}` has no such field: leave it out", operation.name())))
            }
            None => Ok(()),
        }
    }

    /// Its fields, by name and in order.
    pub(super) fn fields(&self) -> Vec<(&'static str, Value<'_>)> {
        let int = |number: Option<i128>| number.map_or(Value::Nothing, Value::Int);
        let flag = |flag: Option<bool>| flag.map_or(Value::Nothing, Value::Bool);
        let values = [
            int(self.history.map(i128::from)),
            int(self.time.map(i128::from)),
            text(&self.host),
            text(&self.process),
            named(self.ending, &ENDINGS),
            named(self.operation, &OPERATIONS),
            text(&self.key),
            text(&self.grant),
            text(&self.owner),
            int(self.token.map(i128::from)),
            flag(self.shared),
            int(self.value.map(i128::from)),
            int(self.amount.map(i128::from)),
            int(self.left.map(i128::from)),
            flag(self.taken),
            named(self.role, &ROLES),
            text(&self.clock),
            int(self.uncertainty.map(i128::from)),
            text(&self.error),
            int(self.quorum.map(i128::from)),
            int(self.holders.map(i128::from)),
            flag(self.sharing),
            flag(self.reentrant),
        ];
        FIELDS.into_iter().zip(values).filter(|(_, value)| *value != Value::Nothing).collect()
    }
}

fn text<'t>(text: &'t Option<Cow<'_, str>>) -> Value<'t> {
    text.as_deref().map_or(Value::Nothing, |text| Value::Text(Cow::Borrowed(text)))
}

fn named<T: Copy + PartialEq>(value: Option<T>, all: &[(&'static str, T)]) -> Value<'static> {
    let name = value.and_then(|value| all.iter().find(|(_, one)| *one == value));
    name.map_or(Value::Nothing, |(name, _)| Value::Text(Cow::Borrowed(name)))
}

fn missing(field: &str, remedy: &str) -> Malformed {
    Malformed::of(field, format!("it is missing: add {remedy}"))
}

fn unknown(name: &str) -> Malformed {
    let hint = match nearest(name, FIELDS) {
        Some(near) => format!("did you mean `{near}`? Else leave it out"),
        None => "leave it out".to_owned(),
    };
    Malformed::of(name, format!("there is no such field: {hint}"))
}

fn wrong(name: &str, value: &Value<'_>, wanted: &str) -> Malformed {
    let said = match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => format!("\"{}\"", clipped(text)),
        other => other.kind().to_owned(),
    };
    Malformed::of(name, format!("{said} is not {wanted}"))
}

fn int<T: TryFrom<i128>>(name: &str, value: Value<'_>, wanted: &str) -> Result<T, Malformed> {
    match value {
        Value::Int(number) => T::try_from(number).map_err(|_| wrong(name, &value, wanted)),
        _ => Err(wrong(name, &value, wanted)),
    }
}

fn small(name: &str, value: Value<'_>) -> Result<u32, Malformed> {
    int(name, value, "a whole number from 0 to 4294967295")
}

fn number(name: &str, value: Value<'_>) -> Result<u64, Malformed> {
    int(name, value, "a whole number from 0 to 18446744073709551615")
}

/// Room is left for sums and differences of what is read here.
fn instant(name: &str, value: Value<'_>) -> Result<u64, Malformed> {
    let wanted = "a whole number of nanoseconds from 0 to 9223372036854775807";
    int::<i64>(name, value.clone(), wanted)?.try_into().map_err(|_| wrong(name, &value, wanted))
}

fn signed(name: &str, value: Value<'_>) -> Result<i64, Malformed> {
    int(name, value, "a whole number of 64 bits")
}

fn flag(name: &str, value: Value<'_>) -> Result<bool, Malformed> {
    match value {
        Value::Bool(flag) => Ok(flag),
        _ => Err(wrong(name, &value, "true or false")),
    }
}

/// Threads and keys are often numbers.
fn name_of<'a>(name: &str, value: Value<'a>) -> Result<Cow<'a, str>, Malformed> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Int(number) => Ok(Cow::Owned(number.to_string())),
        _ => Err(wrong(name, &value, "a text")),
    }
}

fn one_of<T: Copy>(name: &str, value: Value<'_>, all: &[(&'static str, T)]) -> Result<T, Malformed> {
    if let Value::Text(text) = &value
        && let Some((_, one)) = all.iter().find(|(known, _)| known == text)
    {
        return Ok(*one);
    }
    let names: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
    let near = match &value {
        Value::Text(text) => nearest(text, names.iter().copied()),
        _ => None,
    };
    let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Err(wrong(name, &value, &format!("one of {}{hint}", names.join(", "))))
}
