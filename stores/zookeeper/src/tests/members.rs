//! Leaders, members without one, and what a restart leaves.

use picklock_model::plan::{Action, Settings, Target};
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;

use super::world::{Kept, Speaker, at, crash, first, ms, play, play_with, store_events};
use crate::messages::{Path, Request};
use crate::params::DISK;

fn writes_to_the_leader_that_is_cut_off(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-1", 20_000).await.unwrap();
        speaker.create("/a", 0).await.unwrap();
        host.sleep(ms(6_000)).await;
        assert_eq!(
            speaker.set("/a", b"lost").await,
            None,
            "a change that no majority has is not acknowledged"
        );
        let mut other = Speaker::connect_somewhere(&host, 4_000, &Kept::default()).await;
        assert_eq!(other.get("/a", false).await.unwrap(), b"");
        host.sleep(ms(30_000)).await;
    })
}

#[test]
fn a_leader_that_is_cut_off_steps_down_after_five_ticks_and_another_one_leads_by_then() {
    let to = Target::Hosts(vec!["node-2".into(), "node-3".into()]);
    let cut = at(5_000, "node-1", Action::Cut { to, both: true, lasts: ms(30_000) });
    let run = play(3, &[writes_to_the_leader_that_is_cut_off], &[cut]);
    let down = first(&run, "node-1", "leads no longer");
    assert!((14_000..17_500).contains(&down), "{down} ms");
    let next = store_events(&run)
        .into_iter()
        .find(|(at, host, said)| *at > 5_000 && host != "node-1" && said == "leads");
    let (up, _, _) = next.expect("another one leads");
    assert!((14_000..16_000).contains(&up), "{up} ms");
}

fn counts_transactions(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect_somewhere(&host, 4_000, &Kept::default()).await;
        speaker.create("/a", 0).await.unwrap();
        let first = speaker.zxid;
        assert_eq!(speaker.create("/a", 0).await, Err(crate::messages::error::NODE_EXISTS));
        assert_eq!(speaker.zxid, first + 1, "one that fails is a transaction too");
        while speaker.ping(&host, ms(300), 1).await {}
        let mut speaker = Speaker::connect_somewhere(&host, 4_000, &speaker.kept()).await;
        speaker.delete("/a").await.unwrap();
        assert_eq!(speaker.zxid >> 32, (first >> 32) + 1, "a new leader begins a new epoch");
        assert!(speaker.zxid & 0xffff_ffff < 5);
    })
}

#[test]
fn a_transaction_has_the_number_of_its_leaders_epoch_and_its_own() {
    play(3, &[counts_transactions], &[at(5_000, "node-1", crash(None))]);
}

fn finds_everything(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-1", 40_000).await.unwrap();
        for _ in 0..3 {
            speaker.create("/a-", 2).await.unwrap();
        }
        host.sleep(ms(8_000)).await;
        let mut speaker = Speaker::connect_somewhere(&host, 4_000, &speaker.kept()).await;
        speaker.ask(Request::Sync(Path { path: "/".into() })).await.unwrap().unwrap();
        assert_eq!(
            speaker.children("/", false).await,
            ["a-0000000000", "a-0000000001", "a-0000000002", "zookeeper"]
        );
        assert_eq!(speaker.create("/a-", 2).await.unwrap(), "/a-0000000003");
    })
}

#[test]
fn members_that_lose_power_together_have_what_they_acknowledged() {
    let dark =
        |host: &str| at(3_000, host, Action::Crash { power_loss: true, restart_after: Some(ms(1_000)) });
    play(3, &[finds_everything], &["node-1", "node-2", "node-3"].map(dark));
    play(1, &[finds_everything], &[dark("node-1")]);
}

#[test]
fn an_entry_that_was_being_written_is_dropped_and_what_comes_after_it_is_found_again() {
    let dark = |ms_: u64, host: &str| {
        at(ms_, host, Action::Crash { power_loss: true, restart_after: Some(ms(1_000)) })
    };
    let torn = Settings::default().with(DISK, "torn");
    // After the second time all that was written after the torn entry has to be there.
    let all = ["node-1", "node-2", "node-3"];
    let twice: Vec<_> = all.iter().flat_map(|host| [dark(3_000, host), dark(12_000, host)]).collect();
    play_with(&torn, 3, &[finds_everything_twice], &twice);
    play_with(&torn, 1, &[finds_everything_twice], &[dark(3_000, "node-1"), dark(12_000, "node-1")]);
}

fn finds_everything_twice(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-1", 40_000).await.unwrap();
        speaker.create("/a-", 2).await.unwrap();
        for nth in 1..3 {
            host.sleep(ms(8_000)).await;
            speaker = Speaker::connect_somewhere(&host, 4_000, &speaker.kept()).await;
            speaker.ask(Request::Sync(Path { path: "/".into() })).await.unwrap().unwrap();
            let names: Vec<String> = (0..nth).map(|number| format!("a-{number:010}")).collect();
            let found = speaker.children("/", false).await;
            assert_eq!(found[..found.len() - 1], names);
            assert_eq!(speaker.create("/a-", 2).await.unwrap(), format!("/a-{nth:010}"));
        }
    })
}
