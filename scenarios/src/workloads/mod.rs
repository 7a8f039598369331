//! Workloads: what each client does under one seed, and how it does it.

mod contend;
mod drawn;
mod nested;
mod section;
mod sell;
mod shape;
mod workload;

pub use drawn::add_background;
pub(crate) use drawn::{ASSIGN, BACKGROUND, FIRST_WORK, KEYS, SHARED, TASKS, WORK};
pub(crate) use shape::SHAPE;
pub use workload::Workload;

/// The workloads; the first is the one of a scenario that names none.
pub const ALL: &[&Workload] = &[&contend::WORKLOAD, &nested::WORKLOAD, &sell::WORKLOAD];

/// The workload of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}
