//! The replica's end of a replication link: [`link`] understands what a primary sends, [`replica`] does what it says.

mod link;
mod replica;

pub(crate) use link::{Link, LinkError};
