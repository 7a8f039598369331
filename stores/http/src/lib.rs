//! HTTP/1.1 between hosts: requests and responses with short bodies, for stores whose API is JSON.
//!
//! **Entry points:** [`serve`] answers the requests of one connection; [`Client`] asks a server, over as many connections as it has requests
//! under way.
//!
//! # Where things are
//!
//! - `message`: a request and a response, as values.
//! - `codec`: their bytes; `story`: what a story shows of them.
//! - `server`, `client`: the two ends of a connection.
//!
//! # What is not here
//!
//! TLS, HTTP/2, compression, `Expect: 100-continue`, bodies that end with the connection, and bodies longer than 2 MiB. A message that is
//! written always has its length; chunks are only read.
//!
//! *Source:* RFC 9110 and RFC 9112; `net/http` of Go, which the real servers and clients of these stores are built on.

mod client;
mod codec;
mod message;
mod server;
mod story;

pub use client::{Client, Error};
pub use codec::{Malformed, read_request, read_response};
pub use message::{Request, Response};
pub use server::serve;
pub use story::describe;
