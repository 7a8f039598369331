//! The pages of the guide that show code, so that it is compiled and run.

#[doc = include_str!("../docs/guide/gate.md")]
mod gate {}
