//! The three kinds of time, each a type of its own.
//!
//! True time is what only the simulator knows: every verdict is judged in it. A host reads two clocks
//! that may both be wrong: a monotonic one, which timers follow, and a wall clock, which can be stepped.
//! None of the three converts into another without the host's [`Clock`](super::clock::Clock).

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The instant, in nanoseconds since the Unix epoch, at which every simulated world begins: 2020-01-01T00:00:00Z.
pub const EPOCH_NS: u64 = 1_577_836_800_000_000_000;

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The instant in nanoseconds.
            #[must_use]
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// The instant in whole milliseconds, rounded down.
            #[must_use]
            pub const fn as_millis(self) -> u64 {
                self.0 / 1_000_000
            }

            /// The time that has passed since `earlier`, zero if it lies ahead.
            #[must_use]
            pub const fn since(self, earlier: $name) -> Duration {
                Duration::from_nanos(self.0.saturating_sub(earlier.0))
            }
        }

        impl Add<Duration> for $name {
            type Output = $name;
            fn add(self, span: Duration) -> $name {
                $name(self.0.saturating_add(nanos(span)))
            }
        }

        impl Sub<Duration> for $name {
            type Output = $name;
            fn sub(self, span: Duration) -> $name {
                $name(self.0.saturating_sub(nanos(span)))
            }
        }
    };
}

instant! {
    /// An instant of true time: nanoseconds since the run began. Verdicts are judged in it; no host can read it.
    TrueTime
}

instant! {
    /// A reading of one host's monotonic clock: nanoseconds since that clock's own zero.
    Monotonic
}

instant! {
    /// A reading of one host's wall clock: nanoseconds since the Unix epoch.
    WallTime
}

impl fmt::Display for TrueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1_000;
        write!(f, "{}.{:06}s", micros / 1_000_000, micros % 1_000_000)
    }
}

/// The span in nanoseconds, saturating at `u64::MAX` (584 years).
#[must_use]
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Serialises a [`Duration`] as an integer of nanoseconds; fields that use it end their name in `_ns`.
pub mod serde_ns {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the span as an integer.
    ///
    /// # Errors
    /// Whatever the serializer reports.
    pub fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(super::nanos(*span))
    }

    /// Reads the span from an integer.
    ///
    /// # Errors
    /// When the field is not an unsigned integer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}
