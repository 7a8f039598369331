//! The meaning of a statement in a database: names looked up, types found, literals read.

mod columns;
mod convert;
mod expr;
mod function;
mod planner;
mod rows;
mod statement;
mod system;
mod tables;
mod typed;

pub(crate) use convert::{convert, in_range};
pub(crate) use function::{Function, LockCall};
pub(crate) use planner::{Known, folded_name};
pub(crate) use statement::plan;
pub(crate) use system::System;
pub(crate) use typed::{
    Aggregate, Arbiter, From, Insert, Kind, Origin, Plan, Query, SortKey, Source, Typed, Wide, Write,
};
