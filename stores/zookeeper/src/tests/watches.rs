//! Events come before the answer that shows what they are about, once, and are made up for after a reconnection.

use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;

use super::world::{Speaker, ms, play};
use crate::messages::{Request, SetWatches, event};

fn watches_and_reads(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        speaker.create("/a", 0).await.unwrap();
        for round in 0..20_u8 {
            assert!(speaker.get("/a", true).await.is_ok());
            let seen = speaker.events.len();
            loop {
                let data = speaker.get("/a", false).await.unwrap();
                if data == [round] {
                    assert_eq!(speaker.events.len(), seen + 1, "the change is seen before its event");
                    break;
                }
                host.sleep(ms(7)).await;
            }
        }
        let changed = (event::DATA_CHANGED, "/a".to_owned());
        assert!(speaker.events.iter().all(|event| *event == changed) && speaker.events.len() == 20);
    })
}

fn writes(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-3", 4_000).await.unwrap();
        host.sleep(ms(500)).await;
        for round in 0..20_u8 {
            assert!(speaker.set("/a", &[round]).await.unwrap().is_ok());
            host.sleep(ms(100)).await;
        }
    })
}

#[test]
fn an_event_comes_before_the_answer_that_shows_its_change() {
    play(3, &[watches_and_reads, writes], &[]);
}

fn waits_for_its_turn(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut first = Speaker::connect(&host, "node-2", 4_000).await.unwrap();
        let mut second = Speaker::connect(&host, "node-3", 4_000).await.unwrap();
        first.create("/lock", 0).await.unwrap();
        let one = first.create("/lock/x-", 3).await.unwrap();
        let two = second.create("/lock/x-", 3).await.unwrap();
        assert_eq!((one.as_str(), two.as_str()), ("/lock/x-0000000000", "/lock/x-0000000001"));
        assert!(second.exists(&one, true).await);
        first.delete(&one).await.unwrap();
        while second.events.is_empty() {
            assert!(second.ping(&host, ms(10), 1).await);
        }
        assert_eq!(second.events, [(event::DELETED, one)]);
        assert_eq!(second.children("/lock", false).await, ["x-0000000001"]);
    })
}

#[test]
fn who_waits_hears_of_the_end_of_the_one_before() {
    let run = play(3, &[waits_for_its_turn], &[]);
    let held: Vec<String> = super::world::store_events(&run)
        .into_iter()
        .filter(|(_, host, said)| host == "node-1" && said.ends_with(" lock"))
        .map(|(_, _, said)| said)
        .collect();
    assert_eq!(held[..3], ["created lock", "deleted lock", "created lock"]);
}

fn comes_back_and_hears_what_it_missed(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut speaker = Speaker::connect(&host, "node-2", 10_000).await.unwrap();
        let mut other = Speaker::connect(&host, "node-1", 10_000).await.unwrap();
        for path in ["/data", "/gone", "/parent", "/same"] {
            speaker.create(path, 0).await.unwrap();
        }
        let kept = speaker.kept();
        drop(speaker);
        other.set("/data", b"1").await.unwrap().unwrap();
        other.delete("/gone").await.unwrap();
        other.create("/parent/child", 0).await.unwrap();
        other.create("/made", 0).await.unwrap();
        let mut speaker = Speaker::connect_somewhere(&host, 10_000, &kept).await;
        let set = SetWatches {
            relative_zxid: kept.zxid,
            data: vec!["/data".into(), "/gone".into(), "/same".into()],
            exist: vec!["/made".into(), "/never".into()],
            child: vec!["/parent".into()],
        };
        speaker.ask(Request::SetWatches(set)).await.unwrap().unwrap();
        let missed = [
            (event::DATA_CHANGED, "/data"),
            (event::DELETED, "/gone"),
            (event::CREATED, "/made"),
            (event::CHILDREN_CHANGED, "/parent"),
        ];
        assert_eq!(speaker.events, missed.map(|(kind, path)| (kind, path.to_owned())));
        other.set("/same", b"1").await.unwrap().unwrap();
        other.create("/never", 0).await.unwrap();
        while speaker.events.len() < 6 {
            assert!(speaker.ping(&host, ms(10), 1).await);
        }
        assert_eq!(
            speaker.events[4..],
            [(event::DATA_CHANGED, "/same".into()), (event::CREATED, "/never".into())]
        );
    })
}

#[test]
fn a_client_that_comes_back_hears_what_it_missed() {
    play(3, &[comes_back_and_hears_what_it_missed], &[]);
}
