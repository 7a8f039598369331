//! The store kind Kubernetes: Lease objects (`coordination.k8s.io/v1`) behind an API server, kept in an etcd.
//!
//! **Entry point:** [`KIND`], which [`Kubernetes`] describes.
//!
//! # Where things are
//!
//! - `spec`: Kubernetes as a store kind: its members, the time that a new leader of etcd may take.
//! - `server`: a host of the control plane: a member of a simulated etcd, and beside it an API server. `services` answers requests, `leases` reads
//!   and changes objects.
//! - [`lease`]: the object in JSON; [`status`]: what an error is answered with; [`time`]: instants as Kubernetes writes them.
//!
//! # Rules
//!
//! - Each host of the control plane runs a member of etcd and an API server that asks this member alone, as kubeadm sets it up.
//! - An object's resourceVersion is the revision of etcd at which its key was changed last. An update that brings another one is refused (409), and
//!   so is one that loses a race: the change is a transaction of etcd that compares the revision.
//! - An object is read from a majority, and so is the object that an update changes.
//! - An update that changes nothing is answered and not written.
//! - The server knows no leases: that one is over is judged by its clients alone.
//!
//! *Source:* Kubernetes, `staging/src/k8s.io/apiserver/pkg/storage/etcd3/store.go` and `pkg/registry/generic/registry/store.go`; the API
//! reference of Lease v1.
//!
//! # What is not here
//!
//! TLS, authentication, HTTP/2, protobuf (objects are kept as `--storage-media-type=application/json` keeps them), the watch cache, lists, watches,
//! patches, dry runs, managed fields, finalizers, and all other objects. Such a request is refused with 501. An update never creates an object.

pub mod lease;
mod server;
mod spec;
pub mod status;
#[cfg(test)]
mod tests;
pub mod time;

pub use spec::{KIND, Kubernetes};

/// Where clients ask.
pub const PORT: u16 = 6443;
