//! The events that a program gets from its world.

use picklock_sim::stream::Stream;
use picklock_supervisor::{ConnectError, Ending, SocketId};

/// An event that its driver hands to it before its next step.
pub(crate) enum HostEvent {
    /// A line for its standard input.
    Line(String),
    Connected(SocketId, Result<Stream, ConnectError>),
    /// A connection to a port that it listens on, from the host at this place.
    Accepted(SocketId, Stream, usize),
    Came(SocketId, Vec<u8>),
    Ended(SocketId, Ending),
    /// There will be no more lines.
    NoMoreLines,
    /// It is stopped as soon as its threads wait, to be copied.
    Stop,
}
