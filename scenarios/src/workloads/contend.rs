//! Clients contend for keys: each section locks one, reads its register, works, and writes it.

use super::drawn::{PARAMS, draw};
use super::section;
use super::workload::{Workload, always};

/// See the [module](self).
pub(super) const WORKLOAD: Workload = Workload {
    name: "contend",
    doc: "clients contend for keys; a section reads the resource, works, and writes it",
    params: PARAMS,
    applies: always,
    draw,
    program: section::program,
};
