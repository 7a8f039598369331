//! The SQL that a session may say: what a text means, before anything is looked up.

mod change;
mod cursor;
mod ddl;
mod expr;
mod lexer;
mod parser;
mod primary;
mod query;
mod statement;
mod syntax;
mod tables;
mod tree;
mod types;
mod words;

pub(crate) use parser::{parse, parse_body};
pub(crate) use statement::{Check, Column, Generated, Isolation, Key, Sequence, Statement};
pub(crate) use syntax::{
    Conflict, Expr, Insert, Item, Operator, Order, Patience, RowLock, Select, Strength, TableRef,
    TableSource, Target, TypeName,
};
