//! `TCP_USER_TIMEOUT` of a socket: what a cut has kept from being acknowledged for so long never arrives.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::plan::{Action, Injection, Target, When};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Disconnect, Trace, What};
use picklock_sim::design::{Design, ServerContext, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::run::{Workload, run};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::engines::{no_lock, plan};

const PORT: u16 = 7;

/// Reads what comes.
async fn server(context: ServerContext) {
    let listener = context.host.bind(PORT).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    while stream.read_u8().await.is_ok() {}
}

/// A client with this timeout sends a byte, and another during a cut from 1 s to 3 s.
fn sending(engine: Engine, timeout: Option<Duration>) -> Trace {
    let design: Design = no_lock().on(Topology::independent(1), server);
    let mut plan = plan(1);
    plan.clients.truncate(1);
    plan.injections = vec![Injection {
        fault: "test".into(),
        when: When::At { at_ns: TrueTime(0) + Duration::from_secs(1) },
        target: Target::host("client-1"),
        action: Action::Cut { to: Target::host("node-1"), both: true, lasts: Duration::from_secs(2) },
    }];
    let workload: Workload = Arc::new(move |context| {
        Box::pin(async move {
            let mut stream = context.host.connect("node-1", PORT).await.unwrap();
            stream.set_user_timeout(timeout);
            stream.write_all(b"1").await.unwrap();
            context.host.sleep(Duration::from_millis(1_500)).await;
            stream.write_all(b"2").await.unwrap();
            context.host.sleep(Duration::from_millis(2_500)).await;
            context.recorder.finished();
        })
    });
    run(engine, &design, &plan, &workload).unwrap().trace
}

#[test]
fn what_is_not_acknowledged_within_the_timeout_of_its_socket_never_arrives() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        for (timeout, arrives) in [(None, 2), (Some(1_600), 2), (Some(1_000), 1)] {
            let trace = sending(engine, timeout.map(Duration::from_millis));
            assert_eq!(trace.digest, sending(engine, timeout.map(Duration::from_millis)).digest);
            let delivered = trace.events.iter().filter(|event| matches!(event.what, What::Delivered { .. }));
            assert_eq!(delivered.count(), arrives, "{engine} {timeout:?}");
            let breaks = trace
                .events
                .iter()
                .find(|event| matches!(event.what, What::Disconnected { why: Disconnect::TimedOut, .. }));
            // A second after the byte was sent, and a latency.
            let millis = breaks.map(|event| event.at.as_millis());
            assert_eq!(millis.is_some_and(|at| (2_500..2_503).contains(&at)), arrives == 1, "{millis:?}");
        }
    }
}
