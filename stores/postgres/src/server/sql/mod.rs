//! The SQL that a session may say: what a text means, before anything is looked up.

mod cursor;
mod ddl;
mod expr;
mod lexer;
mod parser;
mod query;
mod syntax;

pub(crate) use parser::parse;
pub(crate) use syntax::{
    Column, Conflict, Expr, Generated, Insert, Isolation, Item, Key, Operator, Patience, RowLock, Select,
    Sequence, Statement, Strength, TableRef, TypeName,
};
