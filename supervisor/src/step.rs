//! The steps that a group of processes reports to its driver.

use std::{fmt, net::SocketAddrV4, time::Duration};

use crate::Frame;

/// One socket of a group, numbered in the order of their making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub(crate) u32);

impl fmt::Display for SocketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "socket {}", self.0)
    }
}

/// The next thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A thread is about to do this; it is done when the group is stepped again. A pause can hit here.
    Point(Call),
    /// What follows is done from here: the stack of the thread, innermost first; empty if no line of the user's is known. Only if the [`Setup`](crate::Setup) asks for it.
    At(Vec<Frame>),
    /// A socket is being connected; answered by `connected`.
    Connect {
        /// The socket.
        socket: SocketId,
        /// Where to.
        to: SocketAddrV4,
    },
    /// A socket takes connections from now on; they come by `accept`.
    Listen {
        /// The socket.
        socket: SocketId,
        /// Its port.
        port: u16,
    },
    /// A connection breaks if the other end acknowledges nothing for so long (`TCP_USER_TIMEOUT`); without a value the world decides.
    UserTimeout {
        /// The connection.
        socket: SocketId,
        /// How long.
        timeout: Option<Duration>,
    },
    /// Bytes left through a connection.
    Sent {
        /// The connection.
        socket: SocketId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The program will send nothing more through this connection, and may still receive.
    Shut {
        /// The connection.
        socket: SocketId,
    },
    /// The program closed this connection.
    Closed {
        /// The connection.
        socket: SocketId,
    },
    /// One line of standard output, without its end.
    Printed(String),
    /// One line of standard error, without its end.
    Stderr(String),
    /// All threads wait; the monotonic time at which one of them goes on at the latest, if there is one.
    Waits {
        /// Until when.
        until_ns: Option<u64>,
    },
    /// The program ended.
    Exited(Status),
    /// The program tried something that has no place in its world, and got an error.
    Refused(String),
}

/// A call that a thread is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The thread, numbered in the order of creation.
    pub thread: u32,
    /// The kind of the call.
    pub what: What,
}

/// Kinds of calls at which a pause can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Connects a socket.
    Connect,
    /// Takes a connection.
    Accept,
    /// Reads from something that may have nothing to read yet.
    Read,
    /// Sends, or writes to a file.
    Send,
    /// Writes to standard output or standard error.
    Print,
    /// Waits for descriptors.
    Wait,
    /// Sleeps.
    Sleep,
    /// Reads the clock.
    ClockRead,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with {code}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// The reason why a connection was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// Nobody listens there.
    Refused,
    /// Nobody answered in time.
    TimedOut,
    /// There is no way there.
    Unreachable,
    /// The other side gave up.
    Reset,
}

/// How the other side ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// In order: what was sent is read before the end.
    Eof,
    /// Abruptly.
    Reset,
}

/// The reason why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// This is another machine.
    #[error("run programs in virtual time: this needs Linux on x86-64")]
    Unsupported,
    /// There is no program of this name.
    #[error("find the program {0}")]
    NotFound(String),
    /// The file is there, and may not be executed.
    #[error(
        "start {0}: it may not be executed (chmod +x), or is to be named after its interpreter, as in `python3 lock.py`"
    )]
    NotExecutable(String),
    /// An argument or a variable holds a zero byte.
    #[error("pass {0}: it holds a zero byte")]
    ZeroByte(&'static str),
    /// The kernel or the container forbids a call that is needed.
    #[error("{what}: {source}{}", .remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default())]
    Forbidden {
        /// The attempt.
        what: &'static str,
        /// The kernel's error.
        source: std::io::Error,
        /// The command that allows it, if a known setting forbids it.
        remedy: Option<String>,
    },
}

/// The reason why a group cannot be stepped any further. Its processes are gone.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// It computed for too long without a call.
    #[error(
        "wait for the program: it used {0} ms of processor time without a call: it computes, or it spins until another thread, which \
             waits for its turn, has done something"
    )]
    Silent(u64),
    /// It sleeps in a call that is not served.
    #[error("wait for the program: it sleeps in {0}, which virtual time cannot end")]
    Stuck(String),
    /// It goes round and round without waiting for anything.
    #[error(
        "wait for the program: it made {0} calls within a second of its own time, as a loop does that waits for nothing"
    )]
    Loops(u64),
    /// It printed too much.
    #[error("read what the program prints: more than {0} bytes on standard output or standard error")]
    TooMuchOutput(usize),
    /// It sent too much without any other call.
    #[error("carry what the program sends: more than {0} bytes on its connections without a pause")]
    TooMuchSent(usize),
    /// The kernel refused a call that worked before.
    #[error("{what}: {source}")]
    Kernel {
        /// The attempt.
        what: &'static str,
        /// The kernel's error.
        source: std::io::Error,
    },
}
