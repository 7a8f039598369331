//! Groups of nodes under faults, without hosts: what must hold whatever is lost, late, or dies.

mod bytes;
mod group;
mod rules;
