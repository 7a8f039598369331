//! gRPC over HTTP/2 between hosts: calls of one message or of streams, as clients and servers of etcd make them.
//!
//! The frames are those of the `h2` crate; what is here is what gRPC puts on them: the path and the headers, five bytes before each message,
//! the status at the end. No compression, no deadline in the headers.
//!
//! *Source:* the gRPC project's *gRPC over HTTP2*.

mod client;
mod messages;
mod server;
pub(crate) mod status;
mod wire;

pub use client::{Channel, Receiver, Sender, Stream};
pub(crate) use server::{Call, serve};
