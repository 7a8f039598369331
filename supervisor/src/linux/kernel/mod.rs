//! The kernel and the memory of a program, as the supervisor reaches them: notices of calls, traced threads, `/proc`, and the page of the clock.

pub(super) mod clock_page;
pub(super) mod entry;
pub(super) mod found;
pub(super) mod go;
pub(super) mod memory;
pub(super) mod notify;
pub(super) mod polling;
pub(super) mod text;
pub(super) mod tracing;
