//! Workloads: what each client does under one seed, and how it does it.

mod drawn;
mod section;
mod shape;
mod workload;

// The list begins: a file a line; the first is the workload of a scenario that names none.
mod contend;
mod nested;
mod sell;
// The list ends.

pub(crate) use drawn::add_rivals;
pub use workload::Workload;

/// The workloads; the first is the one of a scenario that names none.
pub const ALL: &[&Workload] = include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

/// The workload of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}
