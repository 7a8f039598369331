//! A client of Kubernetes' API: Lease objects, read, created and updated.
//!
//! It asks one API server at a time, drawn at the start, and goes on to the next one when a connection breaks or a request takes too long, as a
//! load balancer in front of them would have it do. It speaks HTTP/1.1, as client-go does with `DISABLE_HTTP2`.
//!
//! *Source:* `client-go/rest/request.go`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_http::{Client, Error, Request, Response};
use picklock_kubernetes::PORT;
use picklock_kubernetes::lease::{Lease, path};
use picklock_kubernetes::status::Status;
use picklock_sim::design::Context;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_sim::store::StoreAddress;

/// The namespace in which the leases are.
const NAMESPACE: &str = "default";

/// The API servers.
pub(crate) struct Api {
    host: Host,
    servers: Vec<Client>,
    current: Mutex<usize>,
    timeout: Option<Duration>,
}

/// The reason why there is no object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// There is no response.
    #[error(transparent)]
    Http(#[from] Error),
    /// There was none in time.
    #[error("Client.Timeout exceeded while awaiting headers")]
    TimedOut,
    /// There is one of an error.
    #[error("{}", .0.message)]
    Status(Status),
    /// There is one that cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl ApiError {
    /// True if the API server says this.
    pub(crate) fn is(&self, reason: &str) -> bool {
        matches!(self, ApiError::Status(status) if *status.reason == *reason)
    }
}

impl Api {
    /// A client of a design's store, whose requests take no longer than this, or as long as they take.
    ///
    /// # Errors
    /// When the design has none.
    pub(crate) fn of(context: &Context, timeout: Option<Duration>) -> Result<Api, LockError> {
        let names = match context.stores.first() {
            Some(StoreAddress::Host(name)) => std::slice::from_ref(name),
            Some(StoreAddress::Ask(names) | StoreAddress::Among(names)) => names,
            None => return Err(LockError::new("the design has no store")),
        };
        let host = context.host.clone();
        let servers: Vec<Client> = names.iter().map(|name| Client::new(&host, name, PORT)).collect();
        let first = host.rng().below(servers.len().max(1) as u64) as usize;
        Ok(Api { host, servers, current: Mutex::new(first), timeout })
    }

    async fn send(&self, request: Request) -> Result<Lease, ApiError> {
        let at = *self.current.lock().unwrap_or_else(PoisonError::into_inner) % self.servers.len();
        let request = request.header("Accept", "application/json");
        let sent = self.servers[at].send(&request);
        let answered = match self.timeout {
            Some(timeout) => self.host.timeout_boxed(timeout, Box::pin(sent)).await,
            None => Ok(sent.await),
        };
        let response = answered.map_err(|_| ApiError::TimedOut).and_then(|answered| Ok(answered?));
        if response.is_err() {
            *self.current.lock().unwrap_or_else(PoisonError::into_inner) = at + 1;
        }
        read(&response?)
    }

    /// Reads a lease.
    pub(crate) async fn get(&self, name: &str) -> Result<Lease, ApiError> {
        self.send(Request::new("GET", &path(NAMESPACE, Some(name)))).await
    }

    /// Creates a lease.
    pub(crate) async fn create(&self, lease: &Lease) -> Result<Lease, ApiError> {
        self.send(with(Request::new("POST", &path(NAMESPACE, None)), lease)?).await
    }

    /// Changes a lease, if it is still of the version that it was read with.
    pub(crate) async fn update(&self, lease: &Lease) -> Result<Lease, ApiError> {
        let name = &lease.metadata.name;
        self.send(with(Request::new("PUT", &path(NAMESPACE, Some(name))), lease)?).await
    }
}

/// A lease that is to be created.
pub(crate) fn new_lease(name: &str, spec: picklock_kubernetes::lease::Spec) -> Lease {
    Lease::new(NAMESPACE, name, spec)
}

fn with(request: Request, lease: &Lease) -> Result<Request, ApiError> {
    Ok(request.header("Content-Type", "application/json").body(serde_json::to_vec(lease)?))
}

fn read(response: &Response) -> Result<Lease, ApiError> {
    match response.status {
        200 | 201 => Ok(serde_json::from_slice(&response.body)?),
        _ => Err(ApiError::Status(serde_json::from_slice(&response.body)?)),
    }
}
