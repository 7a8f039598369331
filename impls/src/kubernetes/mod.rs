//! Designs on Kubernetes: a Lease object that names its holder.

pub(crate) mod elector;
pub(crate) mod lease_object;
