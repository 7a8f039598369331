//! The content of segments belongs to the run: two runs that differ in a byte have two digests.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, ClientPolicy, Latency, Plan, SectionPlan, Settings, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::trace::{Content, Event, Trace, What};
use picklock_sim::design::{Design, ServerContext, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::run::{Workload, run};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PORT: u16 = 7;

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, _: &Key) -> Result<Option<Grant>, LockError> {
        Ok(None)
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

/// Answers every request with `OK`.
async fn server(context: ServerContext) {
    let listener = context.host.bind(PORT).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = [0; 5];
    while stream.read_exact(&mut request).await.is_ok() {
        stream.write_all(b"OK").await.unwrap();
    }
}

/// A client that asks for this.
fn asking(engine: Engine, request: &'static [u8; 5]) -> Trace {
    let design =
        Design::new("test", |_| async { Ok(Client::lock(NoLock)) }).on(Topology::independent(1), server);
    let section = SectionPlan::new(1, Key::new("k"), Duration::ZERO, Duration::ZERO);
    let plan = Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(1),
            horizon: Duration::from_secs(10),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
            tcp_timeout: Duration::from_secs(15),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "test".into(),
        clients: vec![ClientPlan::new("client-1", vec![section])],
        choices: Vec::new(),
        injections: Vec::new(),
    };
    let workload: Workload = Arc::new(move |context| {
        Box::pin(async move {
            let mut stream = context.host.connect("node-1", PORT).await.unwrap();
            stream.write_all(request).await.unwrap();
            stream.read_exact(&mut [0; 2]).await.unwrap();
            context.recorder.finished();
        })
    });
    run(engine, &design, &plan, &workload).unwrap().trace
}

#[test]
fn the_digest_covers_the_bytes_that_are_sent_on_both_engines() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let [one, again, other] = [b"SET 1", b"SET 1", b"SET 2"].map(|request| asking(engine, request));
        assert_eq!(one.digest, again.digest, "{engine}");
        assert_ne!(one.digest, other.digest, "{engine}");
        // Nothing else differs.
        let differing: Vec<(&Event, &Event)> =
            one.events.iter().zip(&other.events).filter(|(one, other)| one != other).collect();
        assert_eq!((one.events.len(), differing.len()), (other.events.len(), 1), "{engine}");
        let content = |event: &Event| match event.what {
            What::Sent { content, .. } => content,
            ref other => panic!("{engine}: {other:?}"),
        };
        let (here, there) = differing[0];
        assert_eq!([content(here), content(there)], [b"SET 1", b"SET 2"].map(|words| Content::of(words)));
    }
}
