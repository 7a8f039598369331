//! The formats of a campaign, one file a format, and the page of one screen.
//!
//! Their list is [`ALL`](crate::ALL). The page to look at is a room of its own, [`html`](crate::html).

pub mod brief;
pub mod csv;
mod evidence;
pub mod github;
mod grouped;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod picture;
pub mod text;
