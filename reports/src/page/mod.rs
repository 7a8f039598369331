//! What every page is made of: columns of text, colours, written numbers, and the colours of drawings.

pub mod layout;
pub mod markdown;
pub(crate) mod numbers;
pub(crate) mod paint;
pub mod svg;
