//! The HTTP API: which request is answered by what.
//!
//! *Source:* `agent/kvs_endpoint.go`, `agent/session_endpoint.go` and `agent/http.go` of Consul.

use std::sync::Arc;
use std::time::Duration;

use picklock_http::{Request, Response};
use picklock_model::trace::What;
use picklock_sim::host::Origin;
use serde::Serialize;

use super::leader::Server;
use super::state::{Command, Put};
use crate::api::{Created, INDEX, Session, Wanted};
use crate::duration;

/// The longest value, in bytes (`kv_max_value_size`).
const VALUE_MAX: usize = 512 << 10;

/// A blocking query waits so long if it does not say how long.
const QUERY: Duration = Duration::from_secs(300);

/// The longest wait of a blocking query.
const QUERY_MAX: Duration = Duration::from_secs(600);

/// The longest session (`SessionTTLMax`).
const SESSION_TTL_MAX: Duration = Duration::from_secs(86_400);

/// Answers a request.
pub(super) async fn answer(server: Arc<Server>, request: Request, origin: Origin) -> Response {
    let path = request.path();
    let method = request.method.as_str();
    if let Some(key) = path.strip_prefix("/v1/kv/") {
        return match method {
            "GET" if request.query("keys").is_none() && request.query("recurse").is_none() => {
                get(&server, key, &request).await
            }
            "PUT" => put(&server, origin, key, request),
            "DELETE" if request.query("recurse").is_none() => delete(&server, origin, key, &request),
            _ => not_modelled(&server, origin, &request),
        };
    }
    let Some(call) = path.strip_prefix("/v1/session/") else {
        return match (method, path.as_str()) {
            ("GET", "/v1/status/leader") => json(&format!("{}:8300", server.host.name())),
            _ => not_modelled(&server, origin, &request),
        };
    };
    match (method, call.split_once('/').unwrap_or((call, ""))) {
        ("PUT", ("create", "")) => create(&server, origin, &request.body),
        ("PUT" | "GET", ("destroy" | "renew" | "info", "")) => Response::text(400, "Missing session"),
        ("PUT", ("destroy", id)) => {
            server.destroy(origin, id.to_owned());
            json(&true)
        }
        ("PUT", ("renew", id)) => match server.renew(origin, id) {
            true => json(&server.read(|state| state.session(id).cloned().into_iter().collect::<Vec<_>>())),
            false => Response::text(404, format!("Session id '{id}' not found")),
        },
        ("GET", ("info", id)) => sessions(&server, |session| session.id == id),
        ("GET", ("list", "")) => sessions(&server, |_| true),
        _ => not_modelled(&server, origin, &request),
    }
}

fn json(answer: &impl Serialize) -> Response {
    Response::json(200, serde_json::to_string(answer).expect("an answer has only what JSON has"))
}

/// An answer with the index of what it shows.
fn indexed(response: Response, index: u64) -> Response {
    response
        .header(INDEX, index.to_string())
        .header("X-Consul-Knownleader", "true")
        .header("X-Consul-Lastcontact", "0")
}

fn not_modelled(server: &Server, origin: Origin, request: &Request) -> Response {
    let name = format!("{} {}", request.method, request.target);
    server.host.record(origin, What::NotModelled { name: name.clone() });
    Response::text(501, format!("{name} is not modelled"))
}

/// What came of a change.
fn outcome(applied: Result<bool, String>) -> Response {
    match applied {
        Ok(done) => json(&done),
        Err(error) => Response::text(500, error),
    }
}

async fn get(server: &Server, key: &str, request: &Request) -> Response {
    if key.is_empty() {
        return Response::text(400, "Missing key name");
    }
    let past = match request.query("index").map(|index| index.parse()) {
        None => 0,
        Some(Ok(index)) => index,
        Some(Err(_)) => return Response::text(400, "Invalid index"),
    };
    let wait = match request.query("wait").map(|wait| duration::parse(&wait)) {
        None | Some(Some(Duration::ZERO)) => QUERY,
        Some(Some(wait)) => wait.min(QUERY_MAX),
        Some(None) => return Response::text(400, "Invalid wait time"),
    };
    // Not all who wait are to come back at once.
    let more = if past == 0 { Duration::ZERO } else { server.host.rng().span(Duration::ZERO, wait / 16) };
    let (index, pair) = server.get(key, past, wait + more).await;
    let raw = request.query("raw").is_some();
    let response = match pair {
        None => Response::text(404, ""),
        Some(_) if raw => {
            let value = server.read(|state| state.value(key));
            Response { status: 200, body: value.unwrap_or_default(), ..Response::default() }
        }
        Some(pair) => json(&[pair]),
    };
    indexed(response, index)
}

fn put(server: &Server, origin: Origin, key: &str, request: Request) -> Response {
    if key.is_empty() {
        return Response::text(400, "Missing key name");
    }
    let (cas, acquire, release) = (request.query("cas"), request.query("acquire"), request.query("release"));
    if [&cas, &acquire, &release].iter().filter(|flag| flag.is_some()).count() > 1 {
        return Response::text(400, "Conflicting flags");
    }
    if request.body.len() > VALUE_MAX {
        return Response::text(413, "Request body too large");
    }
    let flags = request.query("flags").map_or(Ok(0), |flags| flags.parse());
    let index = cas.as_ref().map_or(Ok(0), |index| index.parse());
    let (Ok(flags), Ok(index)) = (flags, index) else { return Response::text(500, "invalid syntax") };
    let put = Put { key: key.to_owned(), value: request.body, flags };
    let command = match (acquire, release) {
        (Some(session), _) => {
            // Only who leads knows of it, so it is no part of the change itself.
            let now = server.host.monotonic();
            if server.read(|state| state.is_delayed(key, now)) {
                return json(&false);
            }
            Command::Lock { put, session }
        }
        (_, Some(session)) => Command::Unlock { put, session },
        _ if cas.is_some() => Command::SetIf { put, index },
        _ => Command::Set(put),
    };
    outcome(server.apply(origin, command))
}

fn delete(server: &Server, origin: Origin, key: &str, request: &Request) -> Response {
    if key.is_empty() {
        return Response::text(400, "Missing key name");
    }
    let key = key.to_owned();
    match request.query("cas").map(|index| index.parse()) {
        None => outcome(server.apply(origin, Command::Delete { key })),
        Some(Ok(index)) => outcome(server.apply(origin, Command::DeleteIf { key, index })),
        Some(Err(_)) => Response::text(500, "invalid syntax"),
    }
}

fn sessions(server: &Server, wanted: impl Fn(&Session) -> bool) -> Response {
    let (index, sessions) = server.read(|state| {
        let sessions: Vec<Session> = state.sessions().filter(|session| wanted(session)).cloned().collect();
        (state.index(), sessions)
    });
    indexed(json(&sessions), index)
}

fn create(server: &Arc<Server>, origin: Origin, body: &[u8]) -> Response {
    let wanted: Wanted = match body {
        [] => Wanted::default(),
        _ => match serde_json::from_slice(body) {
            Ok(wanted) => wanted,
            Err(error) => return Response::text(400, format!("Request decode failed: {error}")),
        },
    };
    let delay = match wanted.delay() {
        Ok(delay) => delay,
        Err(text) => return Response::text(400, format!("Request decode failed: invalid duration {text:?}")),
    };
    let behavior = wanted.behavior.filter(|behavior| !behavior.is_empty());
    let behavior = behavior.unwrap_or_else(|| "release".to_owned());
    if !matches!(behavior.as_str(), "release" | "delete") {
        return Response::text(500, format!("Invalid Behavior setting '{behavior}'"));
    }
    let ttl = wanted.ttl.unwrap_or_default();
    if !ttl.is_empty() {
        let (min, max) = (server.session_ttl_min(), SESSION_TTL_MAX);
        match duration::parse(&ttl) {
            None => return Response::text(500, format!("Session TTL '{ttl}' invalid: invalid duration")),
            Some(time) if !time.is_zero() && (time < min || time > max) => {
                let bounds = format!("[{}={}]", duration::text(min), duration::text(max));
                let nanos = time.as_nanos();
                return Response::text(
                    500,
                    format!("Invalid Session TTL '{nanos}', must be between {bounds}"),
                );
            }
            Some(_) => {}
        }
    }
    let id = uuid(server);
    let session = Session {
        id: id.clone(),
        name: wanted.name.unwrap_or_default(),
        node: server.host.name(),
        lock_delay: picklock_model::time::nanos(delay),
        behavior,
        ttl,
        node_checks: vec!["serfHealth".to_owned()],
        create_index: 0,
        modify_index: 0,
    };
    // A session that is new meets no condition.
    let _ = server.apply(origin, Command::Create(session));
    server.begin_timer(&id);
    json(&Created { id })
}

/// Thirty-two random digits in the groups of a UUID.
fn uuid(server: &Server) -> String {
    let hex = server.host.rng().owner_id();
    let group = |from: usize, to: usize| &hex[from..to];
    format!("{}-{}-{}-{}-{}", group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32))
}
