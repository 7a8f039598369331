//! The engines by name.

use std::fmt;
use std::str::FromStr;

/// Which engine drives a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Polls tasks from one queue and jumps from one due entry to the next: for campaigns.
    #[default]
    Event,
    /// The turmoil crate: a tokio runtime and sockets for each host, true time in ticks of a millisecond: the second
    /// opinion.
    Turmoil {
        /// Jump over spans in which nothing is due. The trace is the same, only sooner there.
        idle_skip: bool,
    },
}

impl Engine {
    /// The turmoil engine as it is used for confirming.
    pub const TURMOIL: Engine = Engine::Turmoil { idle_skip: true };

    /// The names that [`FromStr`] takes.
    pub const NAMES: [&'static str; 2] = ["event", "turmoil"];
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Event => "event",
            Engine::Turmoil { .. } => "turmoil",
        })
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Engine, String> {
        match name {
            "event" => Ok(Engine::Event),
            "turmoil" => Ok(Engine::TURMOIL),
            _ => Err(format!("there is no engine `{name}`; there are event and turmoil")),
        }
    }
}
