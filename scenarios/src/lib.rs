
pub mod outcome;
pub mod summary;
pub mod workloads;
pub mod history;
pub mod invariants;
pub mod draw;
pub mod expect;
pub mod faults;
pub mod scenario;
pub mod suite;
pub mod check;
pub mod metrics;
pub mod shrink;
pub mod campaign;
pub mod tally;
pub mod tell;
