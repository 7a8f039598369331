//! A server that has the requests of several sections in its hands keeps them apart, and answers each in its own service.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, Latency, Plan, SectionPlan, Settings, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::trace::{Event, Role, Trace, What};
use picklock_sim::design::{Design, ServerContext, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::host::{Origin, Origins};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::run::{Workload, run};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PORT: u16 = 7;
/// Bytes of a request, and of an answer.
const LEN: usize = 5;

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, _: &Key) -> Result<Option<Grant>, LockError> {
        Ok(None)
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

/// Reads until it has three requests, and only then begins to execute and to answer them. What it says afterwards
/// without being asked is in the service of what it read last.
async fn late(context: ServerContext) {
    let listener = context.host.bind(PORT).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut buffer, mut origins) = (Vec::new(), Origins::default());
    while buffer.len() < 3 * LEN {
        let len = stream.read_buf(&mut buffer).await.unwrap();
        origins.read(len, stream.origin());
    }
    for request in buffer.chunks(LEN) {
        let origin = origins.take(request.len());
        let key = Key::new(std::str::from_utf8(request).unwrap());
        context.host.record(origin, What::Created { key });
        stream.write_for(origin, request).await.unwrap();
    }
    stream.write_for(Origin::default(), b"hello").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
}

fn play(engine: Engine) -> Trace {
    let design =
        Design::new("test", |_| async { Ok(Client::lock(NoLock)) }).on(Topology::independent(1), late);
    let section = |ordinal| SectionPlan::new(ordinal, Key::new("k"), Duration::ZERO, Duration::ZERO);
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
            policy: picklock_model::plan::ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "test".into(),
        clients: vec![ClientPlan::new("client-1", (1..=3).map(section).collect())],
        choices: Vec::new(),
        injections: Vec::new(),
    };
    let workload: Workload = Arc::new(|context| {
        Box::pin(async move {
            let recorder = context.recorder.clone();
            let mut stream = context.host.connect("node-1", PORT).await.unwrap();
            // The second section does not wait for the answer that the first was deferred, nor the third for any. Its
            // request is cut in two.
            for (section, parts) in
                context.plan.sections.iter().zip([&["first"][..], &["secon"], &["th", "ird"]])
            {
                recorder.waiting(section.ordinal, &section.key);
                for part in parts {
                    stream.write_all(part.as_bytes()).await.unwrap();
                    context.host.sleep(Duration::from_millis(1)).await;
                }
            }
            let mut answers = [0; 5 * LEN];
            stream.read_exact(&mut answers).await.unwrap();
            assert_eq!(&answers, b"firstseconthirdhellohello");
            recorder.finished();
        })
    });
    run(engine, &design, &plan, &workload).unwrap().trace
}

#[test]
fn the_requests_of_three_sections_in_one_buffer_are_executed_and_answered_each_in_its_own_service() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let trace = play(engine);
        let at_the_server = |is: fn(&What) -> bool| -> Vec<Option<u32>> {
            let events = trace.events.iter();
            let here = events.filter(|event: &&Event| trace.role(event.host) == Some(Role::Leader));
            here.filter(|event| is(&event.what)).map(|event| event.grant.map(|grant| grant.section)).collect()
        };
        let executed = at_the_server(|what| matches!(what, What::Created { .. }));
        assert_eq!(executed, [Some(1), Some(2), Some(3)], "{engine}");
        let answered = at_the_server(|what| matches!(what, What::Sent { .. }));
        assert_eq!(answered, [Some(1), Some(2), Some(3), None, Some(3)], "{engine}");
    }
}
