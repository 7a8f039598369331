//! Commits that were acknowledged, and which of them a crash and a loss of power take, by how the disk syncs.

use std::time::Duration;

use picklock_model::plan::{Action, Setting, Settings};
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::store::Topology;

use super::world::{Script, ask, at, connect_to, ms, play_in};
use crate::Postgres;

const SET_UP: &str = "CREATE TABLE IF NOT EXISTS resource (key text PRIMARY KEY, value bigint NOT NULL DEFAULT 0); \
     INSERT INTO resource (key) VALUES ('k') ON CONFLICT DO NOTHING";

/// The values of the register, and none for one that is gone, after the server has died at 3 s: 41 was committed 3 s before, and 42 half a second
/// before. They come from what the server reports.
fn kept(power_loss: bool, settings: &Settings) -> Vec<i64> {
    let script: Script = |host| {
        Box::pin(async move {
            let client = connect_to(&host, "node-1").await;
            ask(&client, SET_UP).await.unwrap();
            ask(&client, "UPDATE resource SET value = 41 WHERE key = 'k'").await.unwrap();
            host.sleep(ms(2500)).await;
            ask(&client, "UPDATE resource SET value = 42 WHERE key = 'k'").await.unwrap();
            host.sleep(ms(2000)).await;
            let client = connect_to(&host, "node-1").await;
            ask(&client, SET_UP).await.unwrap();
            ask(&client, "UPDATE resource SET value = value + 100 WHERE key = 'k'").await.unwrap();
        })
    };
    let crash = Action::Crash { power_loss, restart_after: Some(ms(500)) };
    let of = |engine| {
        let store = (Postgres::default(), Topology::independent(1), settings.clone());
        let (run, finished) =
            play_in(engine, store, ms(30_000), &[script], vec![at(3000, "node-1", crash.clone())]);
        assert_eq!(finished, [true], "{engine:?}");
        let value = |what: &What| match what {
            What::ResourceWritten { value, .. } | What::ResourceRestored { value, .. } => Some(*value),
            _ => None,
        };
        run.trace.events.iter().filter_map(|event| value(&event.what)).collect::<Vec<_>>()
    };
    assert_eq!(of(Engine::Event), of(Engine::TURMOIL));
    of(Engine::Event)
}

fn delay(span: Duration) -> Settings {
    let mut settings = Settings::default();
    settings.put("disk_delay", Setting::Span(span));
    settings
}

#[test]
fn a_disk_that_syncs_late_loses_what_it_said_it_had() {
    assert_eq!(kept(true, &Settings::default()), [41, 42, 142]);
    // Written before it was lost with the power, and restored from what was on the disk.
    assert_eq!(kept(true, &delay(ms(200))), [41, 42, 42, 142]);
    assert_eq!(kept(true, &delay(ms(1000))), [41, 42, 41, 141]);
    // With the table.
    assert_eq!(kept(true, &delay(ms(60_000))), [41, 42, 0, 100]);
    // Its cache is not the server's.
    for span in [ms(200), ms(60_000)] {
        assert_eq!(kept(false, &delay(span)), [41, 42, 42, 142]);
    }
}

#[test]
fn a_disk_that_never_syncs_loses_everything() {
    let mut settings = Settings::default();
    settings.put("fsync", Setting::Word("off".to_owned()));
    assert_eq!(kept(true, &settings), [41, 42, 0, 100]);
    assert_eq!(kept(false, &settings), [41, 42, 42, 142]);
}
