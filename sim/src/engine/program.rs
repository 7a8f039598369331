//! The host program: what an engine starts on a host.

use std::sync::Arc;

use crate::base::future::BoxFuture;
use crate::host::Host;

/// Starts a host's program; called again when the host restarts.
pub(crate) type HostProgram = Arc<dyn Fn(Host) -> BoxFuture<'static, ()> + Send + Sync>;
