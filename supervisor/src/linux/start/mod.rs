//! The start of a program: its namespaces, mounts, privileges and filters, and the processes between fork and exec.

pub(super) mod apart;
pub(super) mod child;
pub(super) mod close;
pub(super) mod filter;
pub(super) mod identity;
pub(super) mod mounts;
pub(super) mod namespace;
pub(super) mod numbers;
pub(super) mod permission;
pub(super) mod plan;
pub(super) mod privileges;
pub(super) mod spawn;
