//! Copies of a program that has started up: its threads, memory and descriptors.

pub(super) mod holdings;
pub(super) mod life;
pub(super) mod parked;
pub(super) mod regions;
pub(super) mod sibling;
