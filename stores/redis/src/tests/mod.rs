//! Tests of the whole node: without a world, in one, with the Sentinels that watch it, and beside a real server.

mod cluster;
mod commands;
mod data;
mod failover;
mod hostile;
mod lua;
mod planned;
mod real;
mod real_patterns;
mod replication;
mod scripts;
mod sessions;
mod slot_migration;
mod versions;
mod world;
