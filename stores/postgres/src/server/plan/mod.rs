//! The meaning of a statement in a database: names looked up, types found, literals read.

mod columns;
mod convert;
mod expr;
mod function;
mod planner;
mod rows;
mod statement;
mod tables;
mod typed;

pub(crate) use convert::{convert, in_range};
pub(crate) use function::{Function, LockCall};
pub(crate) use planner::Known;
pub(crate) use statement::plan;
pub(crate) use typed::{Arbiter, From, Insert, Kind, Plan, Query, SortKey, Typed, Write};
