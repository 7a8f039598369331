//! Expressions and the statements about rows, as trees.

use crate::protocol::Type;
use crate::server::deep::{Child, Children};

/// A type as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeName {
    Known(Type),
    /// The domain or enum of this name.
    Named(String),
    /// Arrays of the enum of this name.
    ArrayOf(String),
}

/// A table, perhaps under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    pub(crate) source: TableSource,
    /// Other names of its columns.
    pub(crate) columns: Vec<String>,
}

/// Where the rows of a table come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableSource {
    /// The table of the name.
    Name,
    Query(Child<Select>),
    /// The function of the name, and the columns of its result where the statement gives their types.
    Call {
        args: Children<Expr>,
        columns: Vec<(String, TypeName)>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Insert {
    pub(crate) table: TableRef,
    pub(crate) columns: Vec<String>,
    /// A row for each of VALUES; a value is none for DEFAULT.
    pub(crate) rows: Vec<Vec<Option<Expr>>>,
    /// The SELECT whose rows they are otherwise.
    pub(crate) query: Option<Child<Select>>,
    pub(crate) conflict: Conflict,
    pub(crate) returning: Option<Vec<Item>>,
}

/// The reaction of an INSERT to a row whose key is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Fails.
    Fail,
    /// Leaves it, if the conflict is about this index (any without it).
    Nothing(Option<Target>),
    /// Changes it.
    Update { target: Target, sets: Vec<(String, Option<Expr>)>, filter: Option<Expr> },
}

/// A unique index as ON CONFLICT names it: by its columns or expressions, and by the rows that are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) columns: Vec<Expr>,
    pub(crate) filter: Option<Expr>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Select {
    pub(crate) distinct: bool,
    /// DISTINCT ON: of the rows with the same values the first one is shown.
    pub(crate) firsts: Vec<Expr>,
    pub(crate) items: Vec<Item>,
    pub(crate) table: Option<TableRef>,
    /// The tables that come after the first one.
    pub(crate) joins: Vec<Join>,
    pub(crate) filter: Option<Expr>,
    /// GROUP BY.
    pub(crate) group: Vec<Expr>,
    pub(crate) having: Option<Child<Expr>>,
    /// The SELECTs of UNION after it, true for UNION ALL. What follows is about the rows of all.
    pub(crate) unions: Vec<(bool, Child<Select>)>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Child<Expr>>,
    pub(crate) lock: Option<RowLock>,
    /// The tables whose rows are locked, as OF names them; all without any.
    pub(crate) locks: Vec<String>,
}

/// A further table of a SELECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    pub(crate) table: TableRef,
    /// None where every row meets every row.
    pub(crate) on: Option<Expr>,
    /// True for LEFT JOIN.
    pub(crate) left: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) value: Expr,
    pub(crate) descends: bool,
    pub(crate) nulls_first: bool,
}

/// The clause by which a SELECT locks its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLock {
    pub(crate) strength: Strength,
    pub(crate) patience: Patience,
}

/// The strength of a row's lock, from the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE, and an UPDATE that changes no key.
    NoKeyUpdate,
    /// FOR UPDATE, DELETE, and an UPDATE that changes a key.
    Update,
}

impl Strength {
    /// The SELECT that locks so strongly, as errors name it.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            Strength::Share => "SELECT FOR SHARE",
            Strength::NoKeyUpdate => "SELECT FOR NO KEY UPDATE",
            Strength::Update => "SELECT FOR UPDATE",
        }
    }

    /// True if two transactions cannot have both.
    pub(crate) fn conflicts(self, other: Strength) -> bool {
        self != Strength::Share || other != Strength::Share
    }
}

/// The reaction of a row lock to a row that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Waits.
    Wait,
    /// Fails.
    NoWait,
    /// Leaves it out.
    Skip,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) table: TableRef,
    /// A value is none for DEFAULT.
    pub(crate) sets: Vec<(String, Option<Expr>)>,
    /// The tables of FROM.
    pub(crate) from: Vec<TableRef>,
    pub(crate) filter: Option<Expr>,
    pub(crate) returning: Option<Vec<Item>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delete {
    pub(crate) table: TableRef,
    /// The tables of USING.
    pub(crate) from: Vec<TableRef>,
    pub(crate) filter: Option<Expr>,
    pub(crate) returning: Option<Vec<Item>>,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// All columns of all tables.
    All,
    /// All columns of this table.
    AllOf(String),
    /// An expression, perhaps with a name.
    One { value: Expr, name: Option<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    /// `||`.
    Concat,
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
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
            Operator::Concat => "||",
        }
    }

    /// True if it compares its sides by their order.
    pub(crate) fn compares(self) -> bool {
        matches!(
            self,
            Operator::Equal
                | Operator::Unequal
                | Operator::Less
                | Operator::LessOrEqual
                | Operator::Greater
                | Operator::GreaterOrEqual
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Int(i64),
    /// A number with a point, as it is written.
    Decimal(String),
    /// A quoted literal.
    Quoted(String),
    /// `$n`, from 1.
    Param(usize),
    Column {
        table: Option<String>,
        name: String,
    },
    Call {
        name: String,
        args: Children<Expr>,
    },
    Binary {
        operator: Operator,
        left: Child<Expr>,
        right: Child<Expr>,
    },
    And(Child<Expr>, Child<Expr>),
    Or(Child<Expr>, Child<Expr>),
    Not(Child<Expr>),
    IsNull(Child<Expr>),
    In(Child<Expr>, Children<Expr>),
    /// `value IN (SELECT ...)`.
    InQuery(Child<Expr>, Child<Select>),
    Exists(Child<Select>),
    /// `value = ANY (array)`.
    Any {
        operator: Operator,
        value: Child<Expr>,
        array: Child<Expr>,
    },
    /// IS DISTINCT FROM.
    Distinct(Child<Expr>, Child<Expr>),
    /// `ARRAY[...]`.
    Array(Children<Expr>),
    /// `ARRAY(SELECT ...)`.
    ArrayQuery(Child<Select>),
    /// `array[place]`.
    Element(Child<Expr>, Child<Expr>),
    /// `array[from:to]`.
    Slice(Child<Expr>, Option<Child<Expr>>, Option<Child<Expr>>),
    /// `row_number() OVER (PARTITION BY ... ORDER BY ...)`.
    RowNumber(Children<Expr>, Children<Order>),
    /// `count(*) OVER (PARTITION BY ...)`.
    CountOver(Children<Expr>),
    /// `count(*)`.
    CountRows,
    /// `count(DISTINCT value)`, or another aggregate of values that are all different.
    OfDistinct {
        name: String,
        arg: Child<Expr>,
    },
    Case {
        arms: Children<(Expr, Expr)>,
        otherwise: Option<Child<Expr>>,
    },
    Cast(Child<Expr>, TypeName),
    /// A SELECT of one value.
    Subquery(Child<Select>),
}
