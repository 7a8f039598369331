//! Tests of the whole node, without a world and in one.

mod commands;
mod lua;
mod real;
mod replication;
mod sessions;
mod world;
