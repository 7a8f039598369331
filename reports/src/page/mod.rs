//! The parts of every page: columns of text, colours, written numbers, and axes and colours of drawings.

pub mod axis;
pub mod layout;
pub mod markdown;
pub(crate) mod numbers;
pub(crate) mod paint;
pub mod svg;
