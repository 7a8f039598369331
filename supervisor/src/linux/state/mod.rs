//! The state of a program: its processes and threads, its clock, and the calls that wait.

pub(super) mod awaited;
pub(super) mod call;
pub(super) mod context;
pub(super) mod fifos;
pub(super) mod process;
pub(super) mod randomness;
pub(super) mod table;
pub(super) mod time;
