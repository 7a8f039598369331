//! The meaning of a statement in a database: names looked up, types found, literals read.

mod aggregate;
mod call;
mod cast;
mod columns;
mod convert;
mod expr;
mod function;
mod grouping;
mod insert;
mod items;
mod locks;
mod operators;
mod planned;
mod planner;
mod polymorphic;
mod pure;
mod rules;
mod select;
mod sources;
mod statement;
mod system;
mod tables;
mod typed;
mod union;
mod write;

pub(crate) use convert::{convert, in_range};
pub(crate) use function::{Function, LockCall};
pub(crate) use planned::{Arbiter, Insert, Kind, Plan, Write};
pub(crate) use planner::{Known, folded_name};
pub(crate) use pure::pure;
pub(crate) use statement::plan;
pub(crate) use system::System;
pub(crate) use typed::{
    Aggregate, Aggregated, From, Grouping, Numbering, Origin, Query, SortKey, Source, Typed, Wide,
};
