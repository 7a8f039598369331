//! The type of a workload, and the context that it gets for each client.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::plan::{ClientPlan, ClientPolicy};
use picklock_model::trace::Belief;

use crate::base::future::BoxFuture;
use crate::contract::lock::Client;
use crate::contract::recorder::BeliefRecorder;
use crate::controls::resource::Resource;
use crate::host::Host;

/// The program of a client that uses a lock; the same for every design.
pub type Workload = Arc<dyn Fn(ClientContext) -> BoxFuture<'static, ()> + Send + Sync>;

/// The context with which a workload's client is started.
pub struct ClientContext {
    /// Its host.
    pub host: Host,
    /// The design's client.
    pub client: Client,
    /// The recorder to which the workload reports its sections.
    pub recorder: BeliefRecorder,
    /// A client of the guarded resource.
    pub resource: Resource,
    /// The plan of its sections.
    pub plan: ClientPlan,
    /// How long a section waits for the lock, on the client's clock.
    pub wait: Duration,
    /// How far it relies on the deadlines that come with its grants.
    pub belief: Belief,
    /// True if its reads carry the fencing token too.
    pub fences_reads: bool,
    /// Its policy: the use that it makes of the answers of its lock.
    pub policy: ClientPolicy,
    /// True if the guarded data lie in the design's own store: its lock changes them, and the resource is not used.
    pub own_data: bool,
}
