//! The functions that are known, with the types of their arguments and results.
//!
//! Source: PostgreSQL 15 documentation, chapter 9: "Date/Time", "Sequence Manipulation", "System Administration Functions".

use crate::protocol::Type;
use crate::server::locks::Mode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// When the transaction began.
    Now,
    /// When the statement began.
    StatementTimestamp,
    ClockTimestamp,
    /// A `timestamp with time zone` in a zone, or the other way round.
    TimeZone,
    BackendPid,
    Lock(LockCall),
    Unlock(Mode),
    UnlockAll,
    NextVal,
    CurrVal,
    LastVal,
    Notify,
    CancelBackend,
    TerminateBackend,
    /// Has a standby lead.
    Promote,
    IsInRecovery,
    HashText,
    Coalesce,
    Greatest,
    Least,
    Version,
    /// The OID of the type of a name; null if there is none.
    ToRegtype,
    /// The name of the type of an OID; no function that has a name itself.
    TypeName,
    /// A span of so many seconds.
    MakeInterval,
    CurrentSchema,
    CurrentDatabase,
    /// Sets a parameter of the session, or of the transaction.
    SetConfig,
    /// A parameter of the session by its name.
    CurrentSetting,
    /// A relation by its name; null if there is none.
    ToRegclass,
    NullIf,
    Concat,
    /// The number of characters of a text.
    Length,
    /// The first characters of a text; no function that has a name itself.
    Left,
    Lower,
    Upper,
    /// `ARRAY[...]`.
    Array,
    ArrayAppend,
    ArrayLength,
    Cardinality,
    /// `array[place]`.
    Element,
    /// `array[from:to]`.
    Slice,
    /// The first characters of each text of an array; no function that has a name itself.
    LeftAll,
    /// The seconds since 1970, or of a span.
    Epoch,
    Random,
    RandomUuid,
}

/// A function that takes an advisory lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockCall {
    pub(crate) mode: Mode,
    /// True if the lock is kept until the end of the transaction.
    pub(crate) transaction: bool,
    /// True if the call does not wait.
    pub(crate) tries: bool,
}

/// The functions by their names.
const NAMES: [(&str, Function); 40] = [
    ("now", Function::Now),
    ("current_timestamp", Function::Now),
    ("transaction_timestamp", Function::Now),
    ("statement_timestamp", Function::StatementTimestamp),
    ("clock_timestamp", Function::ClockTimestamp),
    ("timezone", Function::TimeZone),
    ("pg_backend_pid", Function::BackendPid),
    ("pg_advisory_unlock", Function::Unlock(Mode::Exclusive)),
    ("pg_advisory_unlock_shared", Function::Unlock(Mode::Share)),
    ("pg_advisory_unlock_all", Function::UnlockAll),
    ("nextval", Function::NextVal),
    ("currval", Function::CurrVal),
    ("lastval", Function::LastVal),
    ("pg_notify", Function::Notify),
    ("pg_cancel_backend", Function::CancelBackend),
    ("pg_terminate_backend", Function::TerminateBackend),
    ("pg_promote", Function::Promote),
    ("pg_is_in_recovery", Function::IsInRecovery),
    ("hashtext", Function::HashText),
    ("coalesce", Function::Coalesce),
    ("make_interval", Function::MakeInterval),
    ("to_regtype", Function::ToRegtype),
    ("version", Function::Version),
    ("current_schema", Function::CurrentSchema),
    ("current_database", Function::CurrentDatabase),
    ("set_config", Function::SetConfig),
    ("current_setting", Function::CurrentSetting),
    ("to_regclass", Function::ToRegclass),
    ("nullif", Function::NullIf),
    ("concat", Function::Concat),
    ("char_length", Function::Length),
    ("character_length", Function::Length),
    ("length", Function::Length),
    ("lower", Function::Lower),
    ("upper", Function::Upper),
    ("array_append", Function::ArrayAppend),
    ("array_length", Function::ArrayLength),
    ("cardinality", Function::Cardinality),
    ("random", Function::Random),
    ("gen_random_uuid", Function::RandomUuid),
];

/// The beginnings of the names of functions that take an advisory lock: true for those of a transaction, and for those
/// that do not wait.
const LOCKS: [(&str, bool, bool); 4] = [
    ("pg_advisory_lock", false, false),
    ("pg_try_advisory_lock", false, true),
    ("pg_advisory_xact_lock", true, false),
    ("pg_try_advisory_xact_lock", true, true),
];

impl Function {
    pub(crate) fn named(name: &str) -> Option<Function> {
        if let Some((_, function)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Some(*function);
        }
        match name {
            "greatest" => return Some(Function::Greatest),
            "least" => return Some(Function::Least),
            _ => {}
        }
        let (name, mode) = match name.strip_suffix("_shared") {
            Some(name) => (name, Mode::Share),
            None => (name, Mode::Exclusive),
        };
        let (_, transaction, tries) = LOCKS.iter().find(|(known, _, _)| *known == name)?;
        Some(Function::Lock(LockCall { mode, transaction: *transaction, tries: *tries }))
    }

    /// The types of its arguments, in each of its forms.
    pub(crate) fn forms(self) -> &'static [&'static [Type]] {
        match self {
            Function::Now | Function::StatementTimestamp | Function::ClockTimestamp => &[&[]],
            Function::BackendPid | Function::UnlockAll | Function::LastVal | Function::IsInRecovery => &[&[]],
            Function::Random | Function::RandomUuid => &[&[]],
            Function::Length | Function::Lower | Function::Upper | Function::ToRegclass => &[&[Type::Text]],
            Function::Left => &[&[Type::Text, Type::Int4]],
            Function::CurrentSetting => &[&[Type::Text], &[Type::Text, Type::Bool]],
            Function::Epoch => &[&[Type::Timestamptz], &[Type::Timestamp], &[Type::Interval]],
            Function::Version | Function::CurrentSchema | Function::CurrentDatabase => &[&[]],
            Function::MakeInterval => &[&[Type::Float8]],
            Function::ToRegtype => &[&[Type::Text]],
            Function::TypeName => &[&[Type::Regtype]],
            Function::SetConfig => &[&[Type::Text, Type::Text, Type::Bool]],
            // How long to wait for it: it is done at once.
            Function::Promote => &[&[], &[Type::Bool], &[Type::Bool, Type::Int4]],
            Function::TimeZone => &[&[Type::Text, Type::Timestamptz], &[Type::Text, Type::Timestamp]],
            Function::Lock(_) | Function::Unlock(_) => &[&[Type::Int8], &[Type::Int4, Type::Int4]],
            Function::NextVal | Function::CurrVal | Function::HashText => &[&[Type::Text]],
            Function::Notify => &[&[Type::Text, Type::Text]],
            Function::CancelBackend | Function::TerminateBackend => &[&[Type::Int4]],
            // Their arguments are of one type, and as many as there are.
            Function::Coalesce | Function::Greatest | Function::Least => &[],
            // Their types depend on each other.
            Function::NullIf
            | Function::Concat
            | Function::Array
            | Function::ArrayAppend
            | Function::ArrayLength
            | Function::Cardinality
            | Function::Element
            | Function::Slice
            | Function::LeftAll => &[],
        }
    }

    /// True for arguments that it has in PostgreSQL, and that are not modelled.
    pub(crate) fn has_further(self, found: &[Type]) -> bool {
        matches!(
            (self, found),
            (Function::Length, [Type::Bytea])
                | (Function::TerminateBackend, [_, _])
                | (Function::TimeZone, [Type::Interval, _])
                | (Function::MakeInterval, [_, _, ..])
        )
    }

    /// The type of its result; `first` is the type of its last argument.
    pub(crate) fn ty(self, last: Option<Type>) -> Type {
        match self {
            Function::Now | Function::StatementTimestamp | Function::ClockTimestamp => Type::Timestamptz,
            Function::TimeZone if last == Some(Type::Timestamp) => Type::Timestamptz,
            Function::TimeZone => Type::Timestamp,
            Function::BackendPid | Function::HashText => Type::Int4,
            Function::Lock(LockCall { tries: false, .. }) | Function::UnlockAll | Function::Notify => {
                Type::Void
            }
            Function::Lock(_) | Function::Unlock(_) => Type::Bool,
            Function::CancelBackend | Function::TerminateBackend => Type::Bool,
            Function::Promote | Function::IsInRecovery => Type::Bool,
            Function::NextVal | Function::CurrVal | Function::LastVal => Type::Int8,
            Function::Version | Function::SetConfig => Type::Text,
            Function::MakeInterval => Type::Interval,
            Function::ToRegtype => Type::Regtype,
            Function::TypeName => Type::Text,
            Function::CurrentSchema | Function::CurrentDatabase => Type::Name,
            Function::Random | Function::Epoch => Type::Float8,
            Function::RandomUuid => Type::Uuid,
            Function::ToRegclass => Type::Regclass,
            Function::Concat | Function::Left | Function::Lower | Function::Upper => Type::Text,
            Function::CurrentSetting => Type::Text,
            Function::Length | Function::ArrayLength | Function::Cardinality => Type::Int4,
            Function::Coalesce
            | Function::Greatest
            | Function::Least
            | Function::NullIf
            | Function::Array
            | Function::ArrayAppend
            | Function::Element
            | Function::LeftAll
            | Function::Slice => last.unwrap_or(Type::Text),
        }
    }

    /// True if it may give another value each time, or has an effect.
    pub(crate) fn is_volatile(self) -> bool {
        matches!(
            self,
            Function::ClockTimestamp
                | Function::Lock(_)
                | Function::Unlock(_)
                | Function::UnlockAll
                | Function::NextVal
                | Function::CurrVal
                | Function::LastVal
                | Function::Notify
                | Function::CancelBackend
                | Function::TerminateBackend
                | Function::Promote
                | Function::IsInRecovery
                | Function::SetConfig
                | Function::Random
                | Function::RandomUuid
        )
    }

    /// True if its value depends on its arguments alone, whatever the settings are.
    pub(super) fn is_immutable(self) -> bool {
        matches!(
            self,
            Function::NullIf
                | Function::Length
                | Function::Left
                | Function::Lower
                | Function::Upper
                | Function::Array
                | Function::ArrayAppend
                | Function::ArrayLength
                | Function::Cardinality
                | Function::Element
                | Function::Slice
                | Function::LeftAll
        )
    }

    /// True if it gives null where an argument is null, without being called.
    pub(crate) fn is_strict(self) -> bool {
        !matches!(
            self,
            Function::Coalesce
                | Function::Greatest
                | Function::Least
                | Function::Notify
                | Function::SetConfig
                | Function::NullIf
                | Function::Concat
                | Function::Array
                | Function::ArrayAppend
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_those_of_the_scope_and_no_others() {
        let lines = include_str!("../scope.txt").lines();
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let listed: Vec<&str> = lines.filter_map(|line| Some(line.split_once(' ')?.0)).collect();
        let mut known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).chain(["greatest", "least"]).collect();
        known.sort_unstable();
        assert_eq!(listed, known);
        assert!(listed.iter().all(|name| Function::named(name).is_some()));
    }
}
