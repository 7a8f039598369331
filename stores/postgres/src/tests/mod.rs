//! Tests of the whole machine: what it says beside what PostgreSQL says, and how it behaves in a world.

mod agent;
mod bounds;
mod deep;
mod disk;
mod hostile;
mod pooled;
mod random;
mod real;
mod silent;
mod standby;
mod talk;
mod transcripts;
mod world;
