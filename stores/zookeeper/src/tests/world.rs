//! Members in a simulated world, and clients that speak to them packet by packet.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Settings};
use picklock_model::trace::What;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::run::Run;
pub(super) use picklock_sim::scripted::Script;
use picklock_sim::scripted::{self, Scripted};
use picklock_sim::store::Topology;
use picklock_sim::stream::Stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::jute::{Packets, Record, packet};
use crate::messages::{
    Acl, Children, ConnectRequest, ConnectResponse, Create, DataStat, Delete, Path, Read, ReplyHeader,
    Request, SetData, WatchEvent, xid,
};
use crate::{CLIENT_PORT, ZooKeeper};

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn at(time_ms: u64, host: &str, action: Action) -> Injection {
    scripted::at(ms(time_ms), host, action)
}

pub(super) fn crash(restart_after: Option<Duration>) -> Action {
    Action::Crash { power_loss: false, restart_after }
}

/// Runs scripts on clients of a store of so many members: twice, and on the other engine. The run.
pub(super) fn play(members: u32, scripts: &[Script], injections: &[Injection]) -> Run {
    play_with(&Settings::default(), members, scripts, injections)
}

/// The same with these settings.
pub(super) fn play_with(
    settings: &Settings,
    members: u32,
    scripts: &[Script],
    injections: &[Injection],
) -> Run {
    let play_on = |engine: Engine| {
        let topology = Topology { stores: 1, replicated: members > 1 };
        let (settings, injections) = (settings.clone(), injections.to_vec());
        let world = Scripted { engine, ttl: ms(4_000), settings, injections, ..Scripted::default() };
        let (run, ended) = world.play(ZooKeeper { members }, topology, scripts).unwrap();
        assert!(ended.iter().all(|ended| *ended), "{engine:?}: {ended:?}: {:#?}", store_events(&run));
        run
    };
    let (one, again) = (play_on(Engine::Event), play_on(Engine::Event));
    assert_eq!(one.trace.digest, again.trace.digest, "the same run is another one");
    play_on(Engine::TURMOIL);
    one
}

/// The events of the store: milliseconds, host, and what.
pub(super) fn store_events(run: &Run) -> Vec<(u64, String, String)> {
    let named = |what: &What| match what {
        What::Created { key } => Some(format!("created {key}")),
        What::Deleted { key } => Some(format!("deleted {key}")),
        What::Expired { key, overdue_ns } => Some(format!("expired {key} {}", overdue_ns / 1_000_000)),
        What::BecameLeader => Some("leads".to_owned()),
        What::StoppedLeading => Some("leads no longer".to_owned()),
        _ => None,
    };
    let host = |event: &picklock_model::trace::Event| run.trace.host_name(event.host).to_owned();
    let events = run.trace.events.iter();
    events.filter_map(|event| Some((event.at.as_millis(), host(event), named(&event.what)?))).collect()
}

/// When something happened first on a host, in milliseconds.
pub(super) fn first(run: &Run, on: &str, what: &str) -> u64 {
    let events = store_events(run);
    let found = events.iter().find(|(_, host, said)| host == on && said.starts_with(what));
    found.unwrap_or_else(|| panic!("{on} {what}: {events:#?}")).0
}

/// A client on one connection.
pub(super) struct Speaker {
    stream: Stream,
    packets: Packets,
    last: i32,
    pub(super) session: i64,
    pub(super) password: Vec<u8>,
    pub(super) timeout: i32,
    pub(super) zxid: i64,
    /// The events that have come in, as kind and path.
    pub(super) events: Vec<(i32, String)>,
}

/// A session that somebody had.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) session: i64,
    pub(super) password: Vec<u8>,
    pub(super) zxid: i64,
}

impl Speaker {
    /// Begins a session of this time; none if the member takes nobody, which it begins to do soon after its start.
    pub(super) async fn connect(host: &Host, member: &str, timeout: i32) -> Option<Speaker> {
        for _ in 0..20 {
            let speaker = Speaker::resume(host, member, timeout, &Kept::default()).await;
            if speaker.is_some() {
                return speaker;
            }
            host.sleep(ms(100)).await;
        }
        None
    }

    /// Resumes a session.
    pub(super) async fn resume(host: &Host, member: &str, timeout_ms: i32, kept: &Kept) -> Option<Speaker> {
        let mut stream = host.connect(member, CLIENT_PORT).await.ok()?;
        let request = ConnectRequest {
            protocol_version: 0,
            last_zxid_seen: kept.zxid,
            timeout_ms,
            session_id: kept.session,
            password: Some(if kept.session == 0 { vec![0; 16] } else { kept.password.clone() }),
            read_only: Some(false),
        };
        stream.write_all(&packet(&request, &())).await.ok()?;
        let mut packets = Packets::default();
        let answer = next(&mut stream, &mut packets).await?;
        let answer = ConnectResponse::whole(&answer).unwrap();
        Some(Speaker {
            stream,
            packets,
            last: 0,
            session: answer.session_id,
            password: answer.password.unwrap(),
            timeout: answer.timeout_ms,
            zxid: kept.zxid,
            events: Vec::new(),
        })
    }

    /// Connects to whichever of three members takes it.
    pub(super) async fn connect_somewhere(host: &Host, timeout: i32, kept: &Kept) -> Speaker {
        loop {
            for member in ["node-1", "node-2", "node-3"] {
                let resuming = Box::pin(Speaker::resume(host, member, timeout, kept));
                if let Ok(Some(speaker)) = host.timeout_boxed(ms(1_000), resuming).await {
                    return speaker;
                }
            }
            host.sleep(ms(100)).await;
        }
    }

    pub(super) fn kept(&self) -> Kept {
        Kept { session: self.session, password: self.password.clone(), zxid: self.zxid }
    }

    pub(super) async fn send(&mut self, request: &Request) -> bool {
        self.last += 1;
        let number = if matches!(request, Request::Ping(())) { xid::PING } else { self.last };
        self.stream.write_all(&request.packet(number)).await.is_ok()
    }

    /// The next answer; events before it are noted. None if the connection has ended.
    pub(super) async fn answer(&mut self) -> Option<Result<Vec<u8>, i32>> {
        loop {
            let packet = next(&mut self.stream, &mut self.packets).await?;
            let mut rest = packet.as_slice();
            let header = ReplyHeader::take(&mut rest).unwrap();
            if header.xid == xid::EVENT {
                let event = WatchEvent::whole(rest).unwrap();
                self.events.push((event.kind, event.path));
                continue;
            }
            self.zxid = self.zxid.max(header.zxid);
            return Some(if header.error == 0 { Ok(rest.to_vec()) } else { Err(header.error) });
        }
    }

    pub(super) async fn ask(&mut self, request: Request) -> Option<Result<Vec<u8>, i32>> {
        if !self.send(&request).await {
            return None;
        }
        self.answer().await
    }

    pub(super) async fn create(&mut self, path: &str, flags: i32) -> Result<String, i32> {
        let create = Create { path: path.to_owned(), data: Some(Vec::new()), acl: vec![Acl::open()], flags };
        let answer = self.ask(Request::Create(create)).await.expect("the connection has ended");
        answer.map(|record| Path::whole(&record).unwrap().path)
    }

    pub(super) async fn delete(&mut self, path: &str) -> Result<(), i32> {
        let delete = Delete { path: path.to_owned(), version: -1 };
        self.ask(Request::Delete(delete)).await.expect("the connection has ended").map(drop)
    }

    pub(super) async fn set(&mut self, path: &str, data: &[u8]) -> Option<Result<Vec<u8>, i32>> {
        self.ask(Request::SetData(SetData { path: path.to_owned(), data: Some(data.to_vec()), version: -1 }))
            .await
    }

    pub(super) async fn get(&mut self, path: &str, watch: bool) -> Result<Vec<u8>, i32> {
        let read = Read { path: path.to_owned(), watch };
        let answer = self.ask(Request::GetData(read)).await.expect("the connection has ended");
        answer.map(|record| DataStat::whole(&record).unwrap().data.unwrap_or_default())
    }

    pub(super) async fn exists(&mut self, path: &str, watch: bool) -> bool {
        let read = Read { path: path.to_owned(), watch };
        self.ask(Request::Exists(read)).await.expect("the connection has ended").is_ok()
    }

    pub(super) async fn children(&mut self, path: &str, watch: bool) -> Vec<String> {
        let read = Read { path: path.to_owned(), watch };
        let answer = self.ask(Request::GetChildren(read)).await.expect("the connection has ended");
        Children::whole(&answer.unwrap()).unwrap().children
    }

    /// Pings once in so long, so many times. False once the connection has ended.
    pub(super) async fn ping(&mut self, host: &Host, every: Duration, times: u32) -> bool {
        for _ in 0..times {
            host.sleep(every).await;
            if self.ask(Request::Ping(())).await.is_none() {
                return false;
            }
        }
        true
    }
}

async fn next(stream: &mut Stream, packets: &mut Packets) -> Option<Vec<u8>> {
    loop {
        if let Some(packet) = packets.next_packet().unwrap() {
            return Some(packet);
        }
        let mut bytes = Vec::new();
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
        packets.extend(&bytes);
    }
}
