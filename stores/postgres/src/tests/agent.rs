//! The agent of a real primary before the controller of a store, in a world whose own primary keeps asking too.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Settings, Target};
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::store::{Switch, Topology};

use super::world::{Script, at, ms, play_in};
use crate::Postgres;
use crate::real::agent;
use crate::server::Pair;

const PAIR: Topology = Topology { stores: 1, replicated: true };

/// Starts an agent on this host, whose server is fenced after 160 ms.
fn start(host: &Host) -> Switch {
    let switch = Switch::new(false);
    let fenced = Some(ms(160));
    let pair = Pair { primary: None, controller: "controller-1".to_owned(), fenced, interval: ms(50) };
    host.spawn(agent(pair).run(host.clone(), switch.clone()));
    switch
}

fn play(scripts: &[Script], injections: Vec<Injection>) {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let store = (Postgres::default(), PAIR, Settings::default());
        let (_, finished) = play_in(engine, store, ms(30_000), scripts, injections.clone());
        assert!(finished.iter().all(|done| *done), "{engine:?}");
    }
}

fn cut(host: &str, from: &str, start: u64, lasts: Duration) -> Injection {
    let action = Action::Cut { to: Target::Hosts(vec![from.to_owned()]), both: true, lasts };
    at(start, host, action)
}

#[test]
fn a_server_that_is_not_confirmed_is_stopped_in_time_and_starts_when_it_is_confirmed_again() {
    let script: Script = |host| {
        Box::pin(async move {
            let (switch, began) = (start(&host), host.monotonic());
            switch.becomes(true).await;
            assert_eq!(host.monotonic(), began);
            switch.becomes(false).await;
            // Its last question before the cut is at most 50 ms old.
            let stopped = host.monotonic().since(began);
            assert!((ms(1_100)..=ms(1_160)).contains(&stopped), "{stopped:?}");
            switch.becomes(true).await;
            assert!(host.monotonic().since(began) >= ms(2_000));
        })
    };
    play(&[script], vec![cut("client-1", "controller-1", 1_000, ms(1_000))]);
}

#[test]
fn a_server_that_was_replaced_stays_stopped() {
    let script: Script = |host| {
        Box::pin(async move {
            let switch = start(&host);
            switch.becomes(true).await;
            switch.becomes(false).await;
            assert!(host.timeout(ms(5_000), switch.becomes(true)).await.is_err());
        })
    };
    // Nobody asks the controller for a second.
    let injections = vec![
        cut("client-1", "controller-1", 1_000, ms(1_000)),
        cut("node-1", "controller-1", 1_000, ms(1_000)),
    ];
    play(&[script], injections);
}
