//! Tests of the whole node, without a world and in one.

mod commands;
mod data;
mod lua;
mod sessions;
mod world;
