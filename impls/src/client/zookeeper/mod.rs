//! A client of ZooKeeper of our own: a session that is kept over one connection at a time, calls, and watches.
//!
//! It behaves as the Java client of 3.8 does where a lock can see it. Members are tried in an order that is drawn once. A session asks for its time,
//! is granted one, and says that it is there (a ping) after a third of that without a request; a member that is silent for two thirds is given up. The
//! next connection resumes the session by its number and password and sets its watches again. Requests that are under way when a connection ends
//! fail: nobody knows what came of them. That its session is over a client hears when it reaches a member again, and not before; with
//! [`Rules::loses`] it also assumes so by its own clock, one session's time after the connection ended, as Curator does.
//!
//! Other than the Java client it makes each request from the task that asks, and has no authentication and no read-only mode.
//!
//! - `session`: a session and its calls; `link`: the task that connects, listens and pings; `state`: what both share; `watches`: who waits for an event;
//!   `members`: the order in which members are tried.
//!
//! *Source:* `ClientCnxn.java`, `StaticHostProvider.java` of ZooKeeper 3.8; `ConnectionStateManager.java` of Curator 5.

mod link;
mod members;
mod session;
mod state;
mod watches;

pub(crate) use members::Members;
pub(crate) use session::Session;
pub(crate) use state::{Failure, Rules};
