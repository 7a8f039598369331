//! Clients contend as in `contend`, and each section acquires once more what it holds before it works, as code does whose
//! functions each lock for themselves.
//!
//! The inner acquire and the inner release are told apart from the outer ones. A section whose inner acquire fails gives
//! its change up and releases what it has.

use super::contend::{PARAMS, draw};
use super::{Workload, needs_reentrancy, section};

/// See the [module](self).
pub(super) const NESTED: Workload = Workload {
    name: "nested",
    doc: "clients contend for keys; a section acquires once more what it holds, then works as in contend",
    params: PARAMS,
    applies: needs_reentrancy,
    draw,
    program: section::nested_program,
};
