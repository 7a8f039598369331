//! Tests of the API servers in a world.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::time::Duration;

use picklock_http::{Client as Http, Request};
use picklock_model::plan::{Action, Injection};
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::run::Run;
use picklock_sim::scripted::{Script, Scripted, at};
use picklock_sim::store::Topology;

use crate::lease::{Lease, Spec, path};
use crate::status::Status;
use crate::{Kubernetes, PORT};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a script on each client, on a control plane of three, each of which comes to its end.
fn play_on(engine: Engine, scripts: &[Script], injections: Vec<Injection>) -> Run {
    let topology = Topology { stores: 1, replicated: true };
    let world = Scripted { engine, injections, ..Scripted::default() };
    let (run, ended) = world.play(Kubernetes { members: 3 }, topology, scripts).unwrap();
    assert!(ended.iter().all(|ended| *ended), "each script came to its end");
    run
}

/// What a client asks one of the API servers, and is answered.
struct Asks(Http);

impl Asks {
    fn new(host: &Host, server: &str) -> Asks {
        Asks(Http::new(host, server, PORT))
    }

    async fn ask(&self, method: &str, name: Option<&str>, lease: Option<&Lease>) -> Result<Lease, Status> {
        let request = Request::new(method, &path("default", name));
        let body = lease.map(|lease| serde_json::to_vec(lease).unwrap()).unwrap_or_default();
        let response = self.0.send(&request.body(body)).await.unwrap();
        match response.status {
            200 | 201 => Ok(serde_json::from_slice(&response.body).unwrap()),
            _ => Err(serde_json::from_slice(&response.body).unwrap()),
        }
    }
}

fn held_by(holder: &str) -> Lease {
    let spec =
        Spec { holder_identity: Some(holder.to_owned()), lease_duration_seconds: Some(2), ..Spec::default() };
    Lease::new("default", "k", spec)
}

fn changes_a_lease(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let (one, two) = (Asks::new(&host, "node-1"), Asks::new(&host, "node-2"));
        assert_eq!(one.ask("GET", Some("k"), None).await, Err(Status::not_found("k")));
        let created = one.ask("POST", None, Some(&held_by("a"))).await.unwrap();
        assert_eq!(two.ask("POST", None, Some(&held_by("b"))).await, Err(Status::already_exists("k")));
        assert_eq!(two.ask("GET", Some("k"), None).await, Ok(created.clone()), "on whatever server");
        assert_eq!(created.metadata.uid.len(), 36);
        let unversioned = two.ask("PUT", Some("k"), Some(&held_by("b"))).await.unwrap_err();
        assert_eq!((unversioned.code, &*unversioned.reason), (422, "Invalid"));
        assert_eq!(one.ask("PUT", Some("k"), Some(&created)).await, Ok(created.clone()), "nothing changes");
        let mut next = created.clone();
        next.spec = held_by("b").spec;
        let changed = two.ask("PUT", Some("k"), Some(&next)).await.unwrap();
        assert_ne!(changed.metadata.resource_version, created.metadata.resource_version);
        assert_eq!(changed.metadata.uid, created.metadata.uid);
        next.spec = held_by("c").spec;
        assert_eq!(one.ask("PUT", Some("k"), Some(&next)).await, Err(Status::conflict("k")));
        let mut wrong = changed.clone();
        wrong.spec.lease_duration_seconds = Some(0);
        assert_eq!(one.ask("PUT", Some("k"), Some(&wrong)).await.unwrap_err().code, 422);
        assert_eq!(one.ask("PATCH", Some("k"), Some(&wrong)).await.unwrap_err().code, 501);
        // It is over by the members' clocks, and there all the same.
        host.sleep(ms(3_000)).await;
        assert_eq!(two.ask("DELETE", Some("k"), None).await, Ok(changed));
        assert_eq!(one.ask("GET", Some("k"), None).await, Err(Status::not_found("k")));
    })
}

#[test]
fn a_lease_is_changed_by_whom_who_knows_its_version() {
    let run = play_on(Engine::Event, &[changes_a_lease], Vec::new());
    let named = |what: &What| match what {
        What::Created { .. } => Some("created"),
        What::Extended { .. } => Some("extended"),
        What::Deleted { .. } => Some("deleted"),
        What::Expired { .. } => Some("expired"),
        _ => None,
    };
    let leader = run.trace.events.iter().find(|event| matches!(event.what, What::BecameLeader)).unwrap().host;
    let events = run.trace.events.iter().filter(|event| event.host == leader);
    let events: Vec<&str> = events.filter_map(|event| named(&event.what)).collect();
    assert_eq!(events, ["created", "expired", "created", "expired"], "one takes the place of another");
    let again = || play_on(Engine::TURMOIL, &[changes_a_lease], Vec::new()).trace.digest;
    assert_eq!(again(), again());
}

/// Two clients change the same version at a time, on two servers: one of them does.
fn races(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host, if host.name() == "client-1" { "node-2" } else { "node-3" });
        if host.name() == "client-1" {
            asks.ask("POST", None, Some(&held_by("nobody"))).await.unwrap();
        }
        host.sleep(ms(500)).await;
        for round in 0..10 {
            let mut lease = asks.ask("GET", Some("k"), None).await.unwrap();
            host.sleep(ms(50)).await;
            lease.spec = held_by(&format!("{}-{round}", host.name())).spec;
            let changed = asks.ask("PUT", Some("k"), Some(&lease)).await;
            host.sleep(ms(50)).await;
            let now = asks.ask("GET", Some("k"), None).await.unwrap();
            match changed {
                Ok(_) => assert_eq!(now.spec, lease.spec, "it is the one"),
                Err(status) => {
                    assert_eq!(status, Status::conflict("k"));
                    assert_ne!(now.spec, lease.spec, "the other one is");
                }
            }
            host.sleep(ms(100)).await;
        }
    })
}

#[test]
fn of_two_changes_of_one_version_one_is_made() {
    play_on(Engine::Event, &[races, races], Vec::new());
}

fn outlives_its_leader(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let one = Asks::new(&host, "node-1");
        let created = one.ask("POST", None, Some(&held_by("a"))).await.unwrap();
        // The leader dies at 2 s.
        host.sleep(ms(2_500)).await;
        let two = Asks::new(&host, "node-2");
        assert_eq!(two.ask("GET", Some("k"), None).await, Ok(created), "once another one leads");
    })
}

#[test]
fn a_lease_outlives_the_leader_of_its_etcd() {
    let dies = at(ms(2_000), "node-1", Action::Crash { power_loss: true, restart_after: None });
    play_on(Engine::Event, &[outlives_its_leader], vec![dies]);
}
