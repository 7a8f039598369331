//! The replica's end of a replication link: [`link`] understands what a primary sends, [`replica`] does what it says. [`slots`] does so where
//! slots alone are imported.

mod link;
mod replica;
mod slots;

pub(crate) use link::{Link, LinkError};
pub(crate) use slots::{Begun, Imported, Importing};
