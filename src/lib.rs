//! picklock tries to break distributed locks.

pub use picklock_impls::{Connection, on_redis};
pub use picklock_sim as sim;
pub use picklock_scenarios as scenarios;
pub use picklock_impls as impls;
pub use picklock_reports as reports;
