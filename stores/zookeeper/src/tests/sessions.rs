//! How long sessions last, who hears of their end, and how they go on elsewhere.

use picklock_model::plan::{Action, Target};
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;

use super::world::{Kept, Speaker, at, crash, first, ms, play, store_events};
use crate::messages::{Request, flags};

/// Holds a lock and pings for three seconds, then says nothing more and keeps its connection.
fn falls_silent(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-1", 1).await.unwrap();
        assert_eq!(speaker.timeout, 4_000, "two ticks at least");
        speaker.create("/a", 0).await.unwrap();
        assert_eq!(speaker.create("/a/x-", flags::EPHEMERAL_SEQUENTIAL).await.unwrap(), "/a/x-0000000000");
        assert!(speaker.ping(&host, ms(1_000), 3).await);
        host.sleep(ms(20_000)).await;
    })
}

#[test]
fn a_session_ends_four_to_six_seconds_after_its_last_sign_of_life() {
    let run = play(1, &[falls_silent], &[]);
    let begun = first(&run, "node-1", "created a");
    let ended = first(&run, "node-1", "expired a");
    let after = ended - begun - 3_000;
    assert!((4_000..6_010).contains(&after), "{after} ms");
    // The time that it had run out by then is in the trace.
    let overdue = store_events(&run).into_iter().find_map(|(_, _, said)| {
        said.strip_prefix("expired a ").map(|overdue| overdue.parse::<u64>().unwrap())
    });
    assert!(after.abs_diff(4_000 + overdue.unwrap()) < 20, "{after} ms, {overdue:?}");
}

fn falls_silent_at_a_follower(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-3", 4_000).await.unwrap();
        speaker.create("/a", 0).await.unwrap();
        speaker.create("/a/x-", flags::EPHEMERAL_SEQUENTIAL).await.unwrap();
        assert!(speaker.ping(&host, ms(1_000), 10).await);
        host.sleep(ms(20_000)).await;
    })
}

#[test]
fn a_follower_reports_signs_of_life_and_the_trace_counts_from_them() {
    let run = play(3, &[falls_silent_at_a_follower], &[]);
    let after = first(&run, "node-1", "expired a") - first(&run, "node-1", "created a") - 10_000;
    assert!((4_000..7_010).contains(&after), "{after} ms");
    let overdue = store_events(&run).into_iter().find_map(|(_, _, said)| {
        said.strip_prefix("expired a ").map(|overdue| overdue.parse::<u64>().unwrap())
    });
    assert!(after.abs_diff(4_000 + overdue.unwrap()) < 20, "{after} ms, {overdue:?}");
}

/// Pings a follower while the leader dies.
fn lives_through_a_failover(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        speaker.create("/a", 0).await.unwrap();
        speaker.create("/a/x-", flags::EPHEMERAL_SEQUENTIAL).await.unwrap();
        while speaker.ping(&host, ms(300), 1).await {}
        // The member has lost its leader. Nobody pings from here on.
        let kept = speaker.kept();
        host.sleep(ms(3_500)).await;
        let speaker = Speaker::connect_somewhere(&host, 4_000, &kept).await;
        assert_eq!(speaker.session, kept.session);
        host.sleep(ms(15_000)).await;
    })
}

#[test]
fn a_new_leader_gives_a_session_its_full_time() {
    let run = play(3, &[lives_through_a_failover], &[at(5_000, "node-1", crash(None))]);
    let events = store_events(&run);
    let (led, leader, _) = events
        .iter()
        .find(|(at, _, said)| *at > 5_000 && said == "leads")
        .cloned()
        .expect("another one leads");
    assert!(led < 5_700, "an election takes no more than half a second: {led} ms");
    let ended = first(&run, &leader, "expired a");
    // It was gone on with 3.5 s later, and has its time from then on.
    assert!((led + 7_000..led + 10_500).contains(&ended), "{led} ms, {ended} ms");
}

/// Resumes a session at another member, and speaks on both connections.
fn moves(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut old = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        old.create("/a", flags::EPHEMERAL).await.unwrap();
        let mut new = Speaker::resume(&host, "node-3", 4_000, &old.kept()).await.unwrap();
        assert_eq!(new.session, old.session);
        assert!(new.set("/a", b"new").await.unwrap().is_ok());
        assert_eq!(old.set("/a", b"old").await, None, "the session has moved: its old connection is closed");
        assert_eq!(new.get("/a", false).await.unwrap(), b"new");
        // At the same member the old connection is closed at once.
        let newest = Speaker::resume(&host, "node-3", 4_000, &new.kept()).await.unwrap();
        assert_eq!(newest.session, old.session);
        assert_eq!(new.answer().await, None);
    })
}

#[test]
fn a_session_goes_on_through_the_last_member_that_its_client_came_to() {
    play(3, &[moves], &[]);
}

fn comes_too_late(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let speaker = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        let kept = speaker.kept();
        let wrong = Kept { password: vec![7; 16], ..kept.clone() };
        let refused = Speaker::resume(&host, "node-3", 4_000, &wrong).await.unwrap();
        assert_eq!((refused.session, refused.timeout), (0, 0), "a wrong password");
        drop(speaker);
        host.sleep(ms(8_000)).await;
        let mut refused = Speaker::resume(&host, "node-3", 4_000, &kept).await.unwrap();
        assert_eq!((refused.session, refused.timeout), (0, 0), "the session is over");
        assert_eq!(refused.answer().await, None);
        let ahead = Kept { zxid: i64::MAX, ..Kept::default() };
        assert!(
            Speaker::resume(&host, "node-1", 4_000, &ahead).await.is_none(),
            "it has seen more than anybody"
        );
    })
}

#[test]
fn a_session_that_is_over_is_not_gone_on_with() {
    play(3, &[comes_too_late], &[]);
}

fn closes(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut one = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        let mut other = Speaker::connect(&host, "node-3", 4_000).await.unwrap();
        one.create("/a", flags::EPHEMERAL).await.unwrap();
        assert_eq!(one.ask(Request::CloseSession(())).await, Some(Ok(Vec::new())));
        assert_eq!(one.answer().await, None);
        other.ask(Request::Sync(crate::messages::Path { path: "/".into() })).await.unwrap().unwrap();
        assert!(!other.exists("/a", false).await);
    })
}

#[test]
fn a_session_that_is_closed_takes_its_nodes_along() {
    play(3, &[closes], &[]);
}

/// At a follower that is cut off from the others it is answered until that gives up its leader.
fn speaks_to_a_member_cut_off(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let began = host.monotonic();
        let mut speaker = Speaker::connect(&host, "node-3", 4_000).await.unwrap();
        speaker.create("/a", 0).await.unwrap();
        speaker.create("/a/x-", flags::EPHEMERAL_SEQUENTIAL).await.unwrap();
        while speaker.ping(&host, ms(500), 1).await {}
        let ended = host.monotonic().since(began).as_millis();
        assert!((13_000..16_000).contains(&ended), "{ended} ms");
    })
}

#[test]
fn a_member_that_is_cut_off_answers_pings_of_a_session_that_the_leader_has_ended() {
    let to = Target::Hosts(vec!["node-1".into(), "node-2".into()]);
    let cut = at(5_000, "node-3", Action::Cut { to, both: true, lasts: ms(40_000) });
    let run = play(3, &[speaks_to_a_member_cut_off], &[cut]);
    let ended = first(&run, "node-1", "expired a");
    assert!((8_000..12_000).contains(&ended), "{ended} ms");
}
