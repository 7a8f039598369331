//! The meaning of a statement in a database: names looked up, types found, literals read.

mod aggregate;
mod call;
mod cast;
mod columns;
mod convert;
mod expr;
mod function;
mod insert;
mod items;
mod operators;
mod pattern;
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
pub(crate) use planner::{Known, folded_name};
pub(crate) use pure::pure;
pub(crate) use statement::plan;
pub(crate) use system::System;
pub(crate) use typed::{
    Aggregate, Arbiter, From, Insert, Kind, Numbering, Origin, Plan, Query, SortKey, Source, Typed, Wide,
    Write,
};
