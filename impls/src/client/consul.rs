//! A client of Consul's HTTP API: sessions, and keys that they hold.
//!
//! *Source:* `api/{session,kv,api}.go` of Consul.

use std::time::Duration;

use picklock_consul::api::{Created, INDEX, Pair, Session, Wanted};
use picklock_consul::{PORT, duration};
use picklock_http::{Client, Error, Request, Response};
use picklock_sim::design::Context;
use picklock_sim::lock::LockError;
use picklock_sim::store::StoreAddress;

/// The number by which a lock's key is known (`LockFlagValue`).
const LOCK_FLAG: u64 = 0x2ddc_cbc0_58a5_0c18;

/// A client.
pub(crate) struct Api {
    http: Client,
}

/// The reason why there is no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// There is no response.
    #[error(transparent)]
    Http(#[from] Error),
    /// There is one of an error.
    #[error("Unexpected response code: {status} ({text})")]
    Status {
        /// Its status.
        status: u16,
        /// Its text.
        text: String,
    },
    /// There is one that cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl ApiError {
    /// True if it may go away (`IsRetryableError`): the server failed, or could not be asked.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            ApiError::Http(_) => true,
            ApiError::Status { status, .. } => (500..600).contains(status),
            ApiError::Json(_) => false,
        }
    }
}

impl Api {
    /// A client of a design's only server.
    ///
    /// # Errors
    /// When the design has none.
    pub(crate) fn of(context: &Context) -> Result<Api, LockError> {
        let Some(StoreAddress::Host(server)) = context.stores.first() else {
            return Err(LockError::new("the design has no store"));
        };
        Ok(Api { http: Client::new(&context.host, server, PORT) })
    }

    /// The response, if it is not that of an error.
    async fn ask(&self, request: Request) -> Result<Response, ApiError> {
        let response = self.http.send(&request).await?;
        if response.status == 200 { Ok(response) } else { Err(status(response)) }
    }

    /// Begins a session.
    pub(crate) async fn create(&self, ttl: Duration, lock_delay: Duration) -> Result<String, ApiError> {
        let wanted = Wanted {
            name: Some("Consul API Lock".to_owned()),
            lock_delay: Some(duration::text(lock_delay).into()),
            behavior: None,
            ttl: Some(duration::text(ttl)),
        };
        let request = Request::new("PUT", "/v1/session/create").body(serde_json::to_vec(&wanted)?);
        let created: Created = serde_json::from_slice(&self.ask(request).await?.body)?;
        Ok(created.id)
    }

    /// Renews a session: its time; none if it is over.
    pub(crate) async fn renew(&self, session: &str) -> Result<Option<Duration>, ApiError> {
        let response = self.http.send(&Request::new("PUT", &format!("/v1/session/renew/{session}"))).await?;
        match response.status {
            404 => Ok(None),
            200 => {
                let sessions: Vec<Session> = serde_json::from_slice(&response.body)?;
                Ok(sessions.first().and_then(Session::time))
            }
            _ => Err(status(response)),
        }
    }

    /// Ends a session.
    pub(crate) async fn destroy(&self, session: &str) -> Result<(), ApiError> {
        self.ask(Request::new("PUT", &format!("/v1/session/destroy/{session}"))).await.map(drop)
    }

    /// A key and the index of the answer; with `past`, once that index is higher, or after this wait, by default the server's.
    pub(crate) async fn get(
        &self,
        key: &str,
        past: u64,
        wait: Option<Duration>,
    ) -> Result<(u64, Option<Pair>), ApiError> {
        let mut request = Request::new("GET", &path(key));
        if past > 0 {
            request = request.with("index", &past.to_string());
        }
        if let Some(wait) = wait {
            request = request.with("wait", &format!("{}ms", wait.as_millis()));
        }
        if wait.is_none() {
            request = request.with("consistent", "");
        }
        let response = self.http.send(&request).await?;
        let index = response.find(INDEX).and_then(|index| index.parse().ok()).unwrap_or_default();
        match response.status {
            404 => Ok((index, None)),
            200 => {
                let pairs: Vec<Pair> = serde_json::from_slice(&response.body)?;
                Ok((index, pairs.into_iter().next()))
            }
            _ => Err(status(response)),
        }
    }

    /// Has a session acquire a key. False if another one holds it, or its last holder was lost a short while ago.
    pub(crate) async fn acquire(&self, key: &str, session: &str) -> Result<bool, ApiError> {
        self.change(key, "acquire", session).await
    }

    /// Has a session release a key. False if it does not hold it.
    pub(crate) async fn release(&self, key: &str, session: &str) -> Result<bool, ApiError> {
        self.change(key, "release", session).await
    }

    async fn change(&self, key: &str, change: &str, session: &str) -> Result<bool, ApiError> {
        let request = Request::new("PUT", &path(key)).with("flags", &LOCK_FLAG.to_string());
        let response = self.ask(request.with(change, session)).await?;
        Ok(serde_json::from_slice(&response.body)?)
    }
}

fn path(key: &str) -> String {
    format!("/v1/kv/{key}")
}

fn status(response: Response) -> ApiError {
    ApiError::Status { status: response.status, text: String::from_utf8_lossy(&response.body).into_owned() }
}
