//! The contract of a kind of store: everything that picklock knows of one, declared in one place.
//!
//! A [`StoreSpec`] describes it; a [`Server`] serves it. The smallest kind is a function that serves
//! ([`Design::on`](super::design::Design::on)).

mod form;
mod kind;
mod member;
mod reader;
mod real;
mod server;
mod serving;
mod settings;
mod spec;

pub use form::{Form, Number, Users};
pub use kind::{Installed, StoreKind, StoreParams};
pub use member::{Member, StoreAddress, Topology};
pub use reader::ConnectionReader;
pub use real::{Agent, FirstFiles, Keeps, RealServer, Switch};
pub(crate) use server::OwnServer;
pub use server::{Serve, Server, ServerContext, SimulatedStore, Store};
pub use serving::{Process, Serving};
pub(crate) use settings::{admits, has_actions};
pub use settings::{complete, setting};
pub use spec::{OwnAction, STORES, StoreSpec};
