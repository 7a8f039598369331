//! The API server: which request is answered by what.

use std::sync::Arc;

use picklock_http::{Request, Response};
use picklock_model::trace::What;
use picklock_sim::host::Origin;
use serde::Serialize;

use super::leases::{Asks, Leases};
use crate::lease::{API_VERSION, Lease};
use crate::status::Status;

/// Answers a request.
pub(super) async fn answer(leases: Arc<Leases>, request: Request, origin: Origin) -> Response {
    let path = request.path();
    let within = path.strip_prefix("/apis/").and_then(|path| path.strip_prefix(API_VERSION));
    let within = within.and_then(|path| path.strip_prefix("/namespaces/"));
    let place = within.and_then(|path| path.split_once("/leases"));
    let name = place.map(|(_, name)| name.trim_start_matches('/'));
    let answer = match (request.method.as_str(), place, name) {
        ("POST", Some((namespace, _)), Some("")) => match body(&request) {
            Ok(lease) => {
                let name = lease.metadata.name.clone();
                let created = leases.create(Asks { origin, namespace, name: &name }, lease).await;
                created.map(|lease| (201, lease))
            }
            Err(status) => Err(status),
        },
        (_, Some((namespace, _)), Some(name)) if !name.is_empty() && !name.contains('/') => {
            let asks = Asks { origin, namespace, name };
            let answered = match request.method.as_str() {
                "GET" if request.query("watch").is_none() => leases.get(asks).await,
                "PUT" => match body(&request) {
                    Ok(lease) => leases.update(asks, lease).await,
                    Err(status) => Err(status),
                },
                "DELETE" => leases.delete(asks).await,
                _ => Err(not_modelled(&leases, origin, &request)),
            };
            answered.map(|lease| (200, lease))
        }
        _ => Err(not_modelled(&leases, origin, &request)),
    };
    match answer {
        Ok((code, lease)) => json(code, &lease),
        Err(status) => json(status.code, &status),
    }
}

fn json(code: u16, answer: &impl Serialize) -> Response {
    Response::json(code, serde_json::to_string(answer).expect("an answer has only what JSON has"))
}

/// The object of a request. What it does not say of its kind is what the path says, as a decoder's default.
fn body(request: &Request) -> Result<Lease, Status> {
    let mut lease: Lease = serde_json::from_slice(&request.body)
        .map_err(|error| Status::bad_request(&format!("the object provided is unrecognized: {error}")))?;
    if lease.kind.is_empty() && lease.api_version.is_empty() {
        lease.kind = "Lease".to_owned();
        lease.api_version = API_VERSION.to_owned();
    }
    let is_one = lease.kind == "Lease" && lease.api_version == API_VERSION;
    if is_one { Ok(lease) } else { Err(Status::bad_request("the object provided is unrecognized")) }
}

fn not_modelled(leases: &Leases, origin: Origin, request: &Request) -> Status {
    let name = format!("{} {}", request.method, request.target);
    leases.host.record(origin, What::NotModelled { name: name.clone() });
    Status::not_modelled(&name)
}
