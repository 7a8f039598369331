//! Designs on Kubernetes: a Lease object that names its holder.

mod elector;
pub(crate) mod lease_object;
