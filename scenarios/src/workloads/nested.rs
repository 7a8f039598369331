//! Clients contend as in `contend`, and each section acquires once more what it holds before it works, as code does whose
//! functions each lock for themselves.
//!
//! The inner acquire and the inner release are distinguished from the outer ones. A section whose inner acquire fails gives
//! its change up and releases what it has.

use picklock_sim::design::Design;

use super::drawn::{PARAMS, draw};
use super::section;
use super::workload::Workload;

/// See the [module](self).
pub(super) const WORKLOAD: Workload = Workload {
    name: "nested",
    doc: "clients contend for keys; a section acquires once more what it holds, then works as in contend",
    params: PARAMS,
    applies: needs_reentrancy,
    draw,
    program: section::nested_program,
};

fn needs_reentrancy(design: &Design) -> Result<(), String> {
    if design.nests {
        Ok(())
    } else {
        Err("its sections acquire once more what they hold, and the design does not let them".into())
    }
}
