//! Reads, writes and waits for descriptors, and the input and output of a program.

pub(super) mod output;
pub(super) mod pipes;
pub(super) mod waiting;
