//! The suite in this process: built-in designs and bugs under built-in scenarios, and under plans that are written by hand.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

#[path = "../support/binary.rs"]
mod binary;
mod bugs;
#[path = "../support/cells.rs"]
mod cells;
mod determinism;
mod elected;
mod exploration;
mod fault_actions;
mod leases;
mod losses;
mod matrix;
mod moved_slot;
#[path = "../support/nightly.rs"]
mod nightly;
mod old_repro_files;
mod permitted_violations;
mod plan_features;
mod published_claims;
mod random_scenarios;
mod release_channel;
mod renewals;
mod row_lock;
mod scope;
mod silent_node;
mod split_brain;
mod stage;
mod store_queue;
mod stories;
mod story_causes;
mod story_page;
