//! Tests of the server as a whole, in a world.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::time::Duration;

use picklock_http::{Client as Http, Request, Response};
use picklock_model::plan::{Action, Injection};
use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::run::Run;
use picklock_sim::scripted::{Script, Scripted, at};
use picklock_sim::store::Topology;

use crate::api::{Created, INDEX, Pair};
use crate::{Consul, PORT};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a script on each client, each of which comes to its end.
fn play_on(engine: Engine, scripts: &[Script], injections: Vec<Injection>) -> Run {
    let kind = Consul { session_ttl_min: ms(1_000), ..Consul::default() };
    let world = Scripted { engine, injections, ..Scripted::default() };
    let (run, ended) = world.play(kind, Topology::independent(1), scripts).unwrap();
    assert!(ended.iter().all(|ended| *ended), "each script came to its end");
    run
}

/// The events of the locks, as "milliseconds event".
fn locks(run: &Run) -> Vec<String> {
    let named = |what: &What| match what {
        What::Created { .. } => Some("created"),
        What::Extended { .. } => Some("extended"),
        What::Deleted { .. } => Some("deleted"),
        What::Expired { .. } => Some("expired"),
        _ => None,
    };
    let events = run.trace.events.iter();
    events.filter_map(|event| Some(format!("{} {}", event.at.as_millis(), named(&event.what)?))).collect()
}

/// What a client asks, and is answered.
struct Asks(Http);

impl Asks {
    fn new(host: &Host) -> Asks {
        Asks(Http::new(host, "node-1", PORT))
    }

    async fn ask(&self, method: &str, target: &str, body: &str) -> Response {
        let request = Request { target: target.to_owned(), ..Request::new(method, "/") };
        self.0.send(&request.body(body)).await.unwrap()
    }

    async fn text(&self, method: &str, target: &str, body: &str) -> (u16, String) {
        let response = self.ask(method, target, body).await;
        (response.status, String::from_utf8(response.body).unwrap())
    }

    async fn session(&self, body: &str) -> String {
        let (status, text) = self.text("PUT", "/v1/session/create", body).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Created>(&text).unwrap().id
    }

    async fn changes(&self, target: &str) -> bool {
        let (status, text) = self.text("PUT", target, "").await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// The key `k` and the index of the answer.
    async fn get(&self, query: &str) -> (u64, Option<Pair>) {
        let response = self.ask("GET", &format!("/v1/kv/k{query}"), "").await;
        let index = response.find(INDEX).unwrap().parse().unwrap();
        let pairs: Vec<Pair> = match response.status {
            404 => Vec::new(),
            _ => serde_json::from_slice(&response.body).unwrap(),
        };
        (index, pairs.into_iter().next())
    }
}

/// The whole tenths of a second that have passed since.
fn tenths(host: &Host, since: Monotonic) -> u128 {
    host.monotonic().since(since).as_millis() / 100
}

const SESSION: &str = r#"{"TTL":"1s","LockDelay":"3000ms"}"#;

fn acquires_and_never_renews(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host);
        let session = asks.session(SESSION).await;
        assert!(asks.changes(&format!("/v1/kv/k?acquire={session}")).await);
        assert!(asks.changes(&format!("/v1/kv/k?acquire={session}")).await, "it holds it already");
        let (_, pair) = asks.get("").await;
        assert_eq!(pair.map(|pair| (pair.lock_index, pair.session)), Some((1, Some(session))));
    })
}

fn acquires_when_it_can(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        host.sleep(ms(500)).await;
        let asks = Asks::new(&host);
        let began = host.monotonic();
        let session = asks.session(r#"{"TTL":"60s"}"#).await;
        let acquire = format!("/v1/kv/k?acquire={session}");
        assert!(!asks.changes(&acquire).await, "another session holds it");
        let (index, _) = asks.get("").await;
        let (later, pair) = asks.get(&format!("?index={index}&wait=30s")).await;
        assert!(later > index && pair.unwrap().session.is_none());
        assert_eq!(tenths(&host, began), 15, "twice its time after it began");
        while !asks.changes(&acquire).await {
            host.sleep(ms(100)).await;
        }
        assert!((45..=46).contains(&tenths(&host, began)), "and the lock-delay later");
        assert_eq!(asks.get("").await.1.unwrap().lock_index, 2);
    })
}

#[test]
fn a_lost_session_ends_after_twice_its_time_and_its_lock_stays_closed_for_the_delay() {
    let run = play_on(Engine::Event, &[acquires_and_never_renews, acquires_when_it_can], Vec::new());
    let events = locks(&run);
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events[1].starts_with("200") && events[1].ends_with("expired"), "{events:?}");
    let again = || play_on(Engine::TURMOIL, &[acquires_and_never_renews, acquires_when_it_can], Vec::new());
    assert_eq!(
        run.trace.digest,
        play_on(Engine::Event, &[acquires_and_never_renews, acquires_when_it_can], Vec::new()).trace.digest
    );
    assert_eq!(again().trace.digest, again().trace.digest);
}

fn releases(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host);
        let session = asks.session(SESSION).await;
        let other = asks.session(SESSION).await;
        assert!(asks.changes(&format!("/v1/kv/k?acquire={session}")).await);
        assert!(!asks.changes(&format!("/v1/kv/k?release={other}")).await, "it is not its own");
        assert!(asks.changes(&format!("/v1/kv/k?release={session}")).await);
        assert!(asks.changes(&format!("/v1/session/destroy/{session}")).await);
        assert!(asks.changes(&format!("/v1/kv/k?acquire={other}")).await, "there is no delay");
        // A session that is asked to end while it holds a key leaves one, however.
        assert!(asks.changes(&format!("/v1/session/destroy/{other}")).await);
        let third = asks.session(SESSION).await;
        assert!(!asks.changes(&format!("/v1/kv/k?acquire={third}")).await);
        host.sleep(ms(1_900)).await;
        let (status, _) = asks.text("PUT", &format!("/v1/session/renew/{third}"), "").await;
        assert_eq!(status, 200);
        host.sleep(ms(1_200)).await;
        assert!(asks.changes(&format!("/v1/kv/k?acquire={third}")).await);
        let unknown = asks.text("PUT", &format!("/v1/kv/k?acquire={other}"), "").await;
        assert_eq!(unknown, (500, format!("invalid session {other:?}")));
        let gone = asks.text("PUT", &format!("/v1/session/renew/{other}"), "").await;
        assert_eq!(gone, (404, format!("Session id '{other}' not found")));
    })
}

#[test]
fn only_a_session_that_ends_with_its_lock_leaves_a_delay() {
    let events = locks(&play_on(Engine::Event, &[releases], Vec::new()));
    let kinds: Vec<&str> = events.iter().filter_map(|event| event.split(' ').nth(1)).collect();
    assert_eq!(kinds, ["created", "deleted", "created", "deleted", "created"], "{events:?}");
}

fn waits_through_a_restart(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host);
        let session = asks.session(r#"{"TTL":"2s","LockDelay":"2s"}"#).await;
        assert!(asks.changes(&format!("/v1/kv/k?acquire={session}")).await);
        // The server dies at 3 s, and is there again at 4 s.
        host.sleep(ms(4_500)).await;
        let asks = Asks::new(&host);
        assert!(asks.get("").await.1.unwrap().session.is_some(), "a session has its time once more");
        host.sleep(ms(3_700)).await;
        assert!(asks.get("").await.1.unwrap().session.is_none());
        // It dies at 9 s again, a second into the delay, and is there again at 9.5 s: the delay begins anew.
        host.sleep(ms(2_500)).await;
        let asks = Asks::new(&host);
        let other = asks.session(SESSION).await;
        assert!(!asks.changes(&format!("/v1/kv/k?acquire={other}")).await);
        host.sleep(ms(1_200)).await;
        assert!(asks.changes(&format!("/v1/kv/k?acquire={other}")).await);
    })
}

#[test]
fn a_restart_gives_sessions_and_delays_their_time_again() {
    let crash = |restart_after| Action::Crash { power_loss: true, restart_after: Some(ms(restart_after)) };
    let crashes = vec![at(ms(3_000), "node-1", crash(1_000)), at(ms(9_000), "node-1", crash(500))];
    play_on(Engine::Event, &[waits_through_a_restart], crashes);
}

fn sets(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host);
        let (index, missing) = asks.get("").await;
        assert_eq!((index, missing), (1, None));
        assert!(asks.changes("/v1/kv/other?cas=0").await);
        // Another key is none of its business: it waits for as long as it asked, and up to a sixteenth more.
        let began = host.monotonic();
        let (index, _) = asks.get("").await;
        assert_eq!(asks.get(&format!("?index={index}&wait=1600ms")).await.1, None);
        assert!((16..=17).contains(&tenths(&host, began)));
        let session = asks.session(SESSION).await;
        assert!(asks.changes(&format!("/v1/kv/k?flags=7&acquire={session}")).await);
        assert_eq!(asks.text("PUT", "/v1/kv/k", "v").await, (200, "true".into()));
        let (index, pair) = asks.get("").await;
        let pair = pair.unwrap();
        assert_eq!((pair.session, pair.value.as_deref()), (Some(session), Some("dg==")));
        assert_eq!((pair.lock_index, pair.flags), (0, 0), "a plain PUT takes both");
        assert!(!asks.changes("/v1/kv/k?cas=3").await);
        assert!(asks.changes(&format!("/v1/kv/k?cas={index}")).await);
        assert_eq!(asks.text("DELETE", "/v1/kv/k", "").await, (200, "true".into()));
        assert_eq!(asks.text("PUT", "/v1/kv/k?cas=0&acquire=x", "").await.0, 400);
        let short = asks.text("PUT", "/v1/session/create", r#"{"TTL":"999ms"}"#).await;
        let words = "Invalid Session TTL '999000000', must be between [1s=86400s]";
        assert_eq!(short, (500, words.into()));
        assert_eq!(asks.text("GET", "/v1/catalog/nodes", "").await.0, 501);
    })
}

fn sets_another_key(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host);
        for value in ["1", "2", "3"] {
            host.sleep(ms(300)).await;
            assert_eq!(asks.text("PUT", "/v1/kv/another", value).await, (200, "true".into()));
        }
    })
}

#[test]
fn keys_are_set_read_and_deleted_by_consuls_rules() {
    play_on(Engine::Event, &[sets, sets_another_key], Vec::new());
}
