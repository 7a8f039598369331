//! The SQL that a session may say: what a text means, before anything is looked up.

mod lexer;
mod parser;

pub(crate) use parser::parse;

use crate::protocol::Type;

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// BEGIN, or START TRANSACTION.
    Begin { tag: &'static str },
    /// COMMIT, END.
    Commit,
    /// ROLLBACK, ABORT.
    Rollback,
    /// SET; without a value back to the default.
    Set { local: bool, name: String, value: Option<String> },
    /// SHOW.
    Show(String),
    /// CREATE TABLE.
    CreateTable { table: String, if_not_exists: bool, columns: Vec<Column> },
    /// INSERT.
    Insert { table: String, columns: Vec<String>, rows: Vec<Vec<Expr>>, conflict: Conflict },
    /// SELECT.
    Select { items: Vec<Item>, table: Option<String>, filter: Vec<Comparison>, lock: Option<Patience> },
    /// UPDATE.
    Update { table: String, sets: Vec<(String, Expr)>, filter: Vec<Comparison> },
    /// DELETE.
    Delete { table: String, filter: Vec<Comparison> },
}

/// A column of a new table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) primary: bool,
    pub(crate) not_null: bool,
    pub(crate) default: Option<Expr>,
}

/// The reaction of an INSERT to a row whose key is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Fails.
    Fail,
    /// Leaves it, if the conflict is about this column (any without one).
    Nothing(Option<String>),
}

/// The reaction of FOR UPDATE to a row that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Waits.
    Wait,
    /// Fails.
    NoWait,
    /// Leaves it out.
    Skip,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// All columns of the table.
    All,
    /// An expression, perhaps with a name.
    One { value: Expr, name: Option<String> },
}

/// `column operator expression`; all of a WHERE clause must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) column: String,
    pub(crate) operator: Operator,
    pub(crate) value: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::Unequal => "<>",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Int(i64),
    /// A quoted literal.
    Quoted(String),
    /// `$n`, from 1.
    Param(usize),
    Column(String),
    Call(Function),
    Sum {
        left: Box<Expr>,
        minus: bool,
        right: Box<Expr>,
    },
    Cast(Box<Expr>, Type),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Now,
    ClockTimestamp,
    BackendPid,
}

impl Function {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Function::Now => "now",
            Function::ClockTimestamp => "clock_timestamp",
            Function::BackendPid => "pg_backend_pid",
        }
    }

    pub(crate) fn ty(self) -> Type {
        match self {
            Function::Now | Function::ClockTimestamp => Type::Timestamp,
            Function::BackendPid => Type::Int4,
        }
    }
}
