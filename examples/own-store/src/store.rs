//! A lease server over plain TCP as a kind of store.
//!
//! `node-1` grants leases: `take KEY OWNER MILLISECONDS` is answered with `yes TOKEN` or `no`, `free KEY OWNER` with
//! `ok`. It keeps leases in memory and by its monotonic clock; after a restart it knows which keys it had granted, but not
//! for how long, and so grants nothing until all leases must have run out. Tokens come from a second server, the sequencer,
//! which keeps its number on disk: a store has two roles.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock::sim::host::{Host, Origin};
use picklock::model::ids::Key;
use picklock::sim::lock::BoxFuture;
use picklock::sim::param::{HOUR, OneSpan, Param};
use picklock::sim::params;
use picklock::model::plan::Settings;
use picklock::sim::store::{Member, ServerContext, SimulatedStore, StoreSpec, Topology};
use picklock::sim::stream::Stream;
use picklock::model::time::Monotonic;
use picklock::model::trace::{Role, What};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// The port of both servers.
pub const PORT: u16 = 4000;

/// The lease server as a kind of store.
pub struct LeaseServer;

const GRACE: Param<OneSpan> = Param {
    name: "grace",
    domain: OneSpan { min: Duration::ZERO, max: HOUR },
    default: "1.2 x ttl",
    doc: "how long a server that was started anew grants nothing",
};

const PARAMS: &[Param] = params![GRACE];

impl StoreSpec for LeaseServer {
    fn name(&self) -> &'static str {
        "lease-server"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        let stores = || 1..=topology.stores;
        let servers = stores().map(|nth| Member::new(format!("node-{nth}"), nth, Role::Leader));
        servers
            .chain(stores().map(|nth| Member::new(format!("sequencer-{nth}"), nth, Role::Monitor)))
            .collect()
    }

    fn recovery_time(&self, _: Topology, settings: &Settings, _: bool) -> Duration {
        settings.get(GRACE)
    }

    fn smallest_lease(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn decode(&self, _: Role, _: bool, bytes: &[u8]) -> Option<String> {
        std::str::from_utf8(bytes).ok().map(|line| line.trim_end().to_owned())
    }
}

impl SimulatedStore for LeaseServer {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        match context.member.role {
            Role::Monitor => Box::pin(sequence(context.host)),
            _ => Box::pin(grant(context)),
        }
    }
}

/// Counts upwards for whoever asks, and never forgets.
async fn sequence(host: Host) {
    let Ok(listener) = host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let disk = host.disk();
        host.spawn(async move {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).await.is_ok_and(|len| len > 0) {
                line.clear();
                let number = String::from_utf8(disk.read("number")).ok().and_then(|text| text.parse().ok());
                let next = (number.unwrap_or(0_u64) + 1).to_string();
                disk.write("number", next.as_bytes());
                disk.sync("number");
                if stream.write_all(format!("{next}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// The leases by key: who has it, and until when.
type Leases = Arc<Mutex<ByKey>>;
type ByKey = BTreeMap<String, (String, Monotonic)>;

const UNPOISONED: &str = "nothing panics while it holds the leases";

/// The file of the keys that are granted, a line each.
const GRANTED: &str = "granted";

async fn grant(context: ServerContext) {
    let host = context.host.clone();
    let sequencer = context.of_role(Role::Monitor).next().map(Member::address).unwrap_or_default();
    let leases = Leases::default();
    let granted = String::from_utf8(host.disk().read(GRANTED)).unwrap_or_default();
    if !granted.is_empty() {
        host.sleep(context.settings.get(GRACE)).await;
    }
    // Only now others may have what was granted before.
    for key in granted.lines() {
        host.record(Origin::default(), What::Lost { key: Key::new(key) });
    }
    keep(&host, &leases.lock().expect(UNPOISONED));
    let Ok(listener) = host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        host.spawn(answer(host.clone(), Arc::clone(&leases), sequencer.clone(), stream));
    }
}

async fn answer(host: Host, leases: Leases, sequencer: String, stream: Stream) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while stream.read_line(&mut line).await.is_ok_and(|len| len > 0) {
        let origin = stream.get_ref().origin();
        let words: Vec<&str> = line.split_whitespace().collect();
        let reply = match words[..] {
            ["take", key, owner, lease] => {
                let lease = Duration::from_millis(lease.parse().unwrap_or(0));
                if take(&host, origin, &leases, key, owner, lease) {
                    token(&host, &sequencer).await.map_or("no\n".to_owned(), |token| format!("yes {token}"))
                } else {
                    "no\n".to_owned()
                }
            }
            ["free", key, owner] => {
                let mut leases = leases.lock().expect(UNPOISONED);
                if leases.get(key).is_some_and(|(holder, _)| holder == owner) {
                    leases.remove(key);
                    keep(&host, &leases);
                    host.record(origin, What::Deleted { key: Key::new(key) });
                }
                "ok\n".to_owned()
            }
            _ => return,
        };
        line.clear();
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Grants the key if nobody has it. A lease that has run out is dropped when somebody asks.
fn take(host: &Host, origin: Origin, leases: &Leases, key: &str, owner: &str, lease: Duration) -> bool {
    let now = host.monotonic();
    let mut leases = leases.lock().expect(UNPOISONED);
    match leases.get(key) {
        Some((_, until)) if now < *until => return false,
        Some((_, until)) => {
            let overdue_ns = now.as_nanos() - until.as_nanos();
            host.record(Origin::default(), What::Expired { key: Key::new(key), overdue_ns });
        }
        None => {}
    }
    leases.insert(key.to_owned(), (owner.to_owned(), now + lease));
    keep(host, &leases);
    host.record(origin, What::Created { key: Key::new(key) });
    true
}

/// Writes down which keys are granted, before anybody gets the answer.
fn keep(host: &Host, leases: &ByKey) {
    let keys: String = leases.keys().map(|key| format!("{key}\n")).collect();
    host.disk().write(GRANTED, keys.as_bytes());
    host.disk().sync(GRANTED);
}

/// The next number of the sequencer, as it sends it.
async fn token(host: &Host, sequencer: &str) -> io::Result<String> {
    let mut stream = BufReader::new(host.connect(sequencer, PORT).await?);
    stream.write_all(b"next\n").await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    if line.is_empty() { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) } else { Ok(line) }
}
