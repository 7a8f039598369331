//! Injection points, and when a fault action is applied.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::{TrueTime, serde_ns};

/// When a fault action is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum When {
    /// At an instant of true time.
    At {
        /// The instant.
        at_ns: TrueTime,
    },
    /// When a process comes to a point of its protocol.
    Point {
        /// The point.
        point: Point,
        /// True time to let pass after it; zero means right there, inside the step.
        #[serde(rename = "after_ns", with = "serde_ns")]
        after: Duration,
    },
    /// When another injection of the plan was applied.
    With {
        /// Its index in the plan.
        injection: u32,
        /// True time to let pass after it.
        #[serde(rename = "after_ns", with = "serde_ns")]
        after: Duration,
    },
}

/// An injection point: a place in a process's life that has meaning on every engine and, in a client's, under every network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The host's name.
    pub host: Arc<str>,
    /// The ordinal of the client's section; 0 at a server.
    pub section: u32,
    /// Where in the section.
    pub phase: Phase,
    /// The access of the process there.
    pub access: Access,
    /// The host it talks to, for reads and writes; empty otherwise.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub peer: Arc<str>,
    /// Which one of several, from 0.
    pub nth: u32,
    /// Before or after it.
    pub edge: Edge,
}

/// The steps of a section, as the client's process goes through them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Between sections.
    #[default]
    Idle,
    /// Inside the acquire call.
    Acquire,
    /// Reading the resource.
    Read,
    /// Working.
    Work,
    /// Writing the resource.
    Write,
    /// Inside the release call.
    Release,
}

/// The access of a process at an injection point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It enters the phase.
    Enter,
    /// It writes to a stream.
    Write,
    /// Bytes of a stream are handed to it.
    Read,
    /// It reads a clock.
    Clock,
    /// One of its tasks is polled.
    Poll,
    /// A program that runs as this process connects a socket.
    Connects,
    /// Such a program takes a connection.
    Accepts,
    /// It reads where there may be nothing to read yet.
    Receives,
    /// It sends, or writes to a file.
    Sends,
    /// It writes to its standard output.
    Prints,
    /// It waits until something happens.
    Waits,
    /// It sleeps.
    Sleeps,
}

/// Before or after the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// The access has not happened yet.
    Before,
    /// The access has happened; the process has not acted on it.
    After,
}
