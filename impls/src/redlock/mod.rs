//! The designs on several independent Redis stores: one file for each.

pub(crate) mod algorithm;
pub(crate) mod budget;
pub(crate) mod fenced;
pub(crate) mod fenced_quorum;
pub(crate) mod multi;
pub(crate) mod naive;
pub(crate) mod raised;
