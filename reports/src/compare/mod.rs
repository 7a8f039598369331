//! The same results laid out as a comparison: which design protects the data and why; for each scenario a table of designs with the
//! rate of every invariant, the paired differences to the best, and what else was measured.
//!
//! Designs are compared on paired seeds: each ran the same ones, so the same workload and the same faults. Rates are
//! per conclusive run; intervals are Wilson's at 95%, those of differences Newcombe's, and zero violations
//! are stated as a bound.

pub(crate) mod comparison;
mod data;
pub(crate) mod differences;
mod exact;
mod markdown;
pub(crate) mod measures;
mod pairs;
mod parts;
pub(crate) mod ranking;
pub(crate) mod rates;
mod screen;
pub(crate) mod shared;
mod since;
mod text;

pub use self::comparison::Comparison;
pub use self::pairs::{Made, Pairs};
pub use self::since::{Baseline, Since};
pub use self::text::screen;

pub(crate) use self::data::FORMAT as JSON;
pub(crate) use self::markdown::FORMAT as MARKDOWN;
pub(crate) use self::text::FORMAT as TEXT;
