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
const NAMES: [(&str, Function); 26] = [
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
            Function::Version | Function::CurrentSchema | Function::CurrentDatabase => &[&[]],
            Function::MakeInterval => &[&[Type::Int8]],
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
        }
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
            Function::Coalesce | Function::Greatest | Function::Least => last.unwrap_or(Type::Text),
        }
    }

    /// True if it may give another value each time, or has an effect.
    pub(crate) fn is_volatile(self) -> bool {
        !matches!(
            self,
            Function::Now
                | Function::StatementTimestamp
                | Function::TimeZone
                | Function::BackendPid
                | Function::HashText
                | Function::Coalesce
                | Function::Greatest
                | Function::Least
                | Function::Version
                | Function::MakeInterval
                | Function::ToRegtype
                | Function::TypeName
                | Function::CurrentSchema
                | Function::CurrentDatabase
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
        )
    }
}
