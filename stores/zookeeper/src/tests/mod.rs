//! Tests of simulated members: members in a world.

mod members;
mod sessions;
mod watches;
mod world;
