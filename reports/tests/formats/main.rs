//! The formats of reports: what they print, and how a browser shows their pages.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod browser;
mod chromium;
mod fixtures;
mod golden;
mod page;
mod signs;
