//! The floor: what the commands of a run cost by themselves.
//!
//! The redis crate's client talks over an in-memory pipe to the same node that runs in the simulation, which answers at
//! once. There is no network, no clock, no trace and no lock around it: no simulation of these commands can be faster.

use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::time::WallTime;
use picklock_redis::protocol::resp::Requests;
use picklock_redis::server::node::Node;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo, RedisResult, Script, cmd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::runtime::Runtime;

/// The commands of one run, by kind.
pub(crate) struct Floor {
    pub(crate) clients: usize,
    pub(crate) nodes: usize,
    /// How many times a node gives its lock.
    pub(crate) granted: usize,
    /// How many times it refuses it.
    pub(crate) refused: usize,
    /// True if the release is also sent where the lock was refused.
    pub(crate) releases_refusals: bool,
}

/// How much a pipe holds, in bytes.
const PIPE: usize = 4 * 1024;
/// The value that locks are taken with, as long as those of the designs.
const OWNER: &str = "0123456789abcdef0123456789abcdef01234567";
/// The key that a node always refuses, since somebody has it.
const TAKEN: &str = "taken";
/// The key that a node always gives.
const FREE: &str = "stock";
/// The release of the designs, word for word.
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('del', KEYS[1])
             else
               return 0
             end";

/// A node and how many requests it has read.
#[derive(Default)]
struct Served {
    node: Node,
    requests: usize,
}

impl Floor {
    /// Sends the commands. Returns how many requests there were.
    pub(crate) fn run(&self) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing of the system");
        let served = runtime.block_on(self.talk(&runtime)).expect("a node that is always there answers");
        served.iter().map(|node| lock(node).requests).sum()
    }

    async fn talk(&self, runtime: &Runtime) -> RedisResult<Vec<Arc<Mutex<Served>>>> {
        let nodes: Vec<Arc<Mutex<Served>>> =
            (0..self.nodes).map(|_| Arc::new(Mutex::new(holding(TAKEN)))).collect();
        let mut connections = Vec::with_capacity(self.clients * self.nodes);
        for _ in 0..self.clients {
            for node in &nodes {
                connections.push(connect(runtime, node).await?);
            }
        }
        let release = Script::new(RELEASE);
        let tries = self.granted + self.refused;
        for nth in 0..tries {
            let at = nth % connections.len();
            let connection = &mut connections[at];
            // Spreads the refusals evenly.
            let refuse = nth * self.refused / tries != (nth + 1) * self.refused / tries;
            let key = if refuse { TAKEN } else { FREE };
            let mut set = cmd("SET");
            set.arg(key).arg(OWNER).arg("NX").arg("PX").arg(1_000);
            let granted: bool = set.query_async(connection).await?;
            assert_eq!(granted, !refuse, "the node gives what is free");
            if granted || self.releases_refusals {
                release.key(key).arg(OWNER).invoke_async::<()>(connection).await?;
            }
        }
        Ok(nodes)
    }
}

/// A node on which somebody else has a key.
fn holding(key: &str) -> Served {
    let mut node = Node::default();
    let session = node.connect("client");
    let set: [&[u8]; 3] = [b"SET", key.as_bytes(), b"somebody"];
    let _ = node.execute(WallTime(0), session, &set, &mut Vec::new());
    Served { node, requests: 0 }
}

async fn connect(runtime: &Runtime, node: &Arc<Mutex<Served>>) -> RedisResult<MultiplexedConnection> {
    let (near, far) = tokio::io::duplex(PIPE);
    runtime.spawn(serve(Arc::clone(node), far));
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
    let (client, driver) =
        MultiplexedConnection::new_with_config(&RedisConnectionInfo::default(), near, config).await?;
    runtime.spawn(driver);
    Ok(client)
}

/// Answers one connection. Everything that arrives together counts as one request.
async fn serve(served: Arc<Mutex<Served>>, mut pipe: DuplexStream) {
    let session = lock(&served).node.connect("client");
    let mut requests = Requests::default();
    let mut reply = Vec::new();
    while pipe.read_buf(requests.room()).await.is_ok_and(|len| len > 0) {
        {
            let served = &mut *lock(&served);
            served.requests += 1;
            while let Ok(Some(request)) = requests.take() {
                let _ = served.node.execute(WallTime(0), session, &request.args, &mut reply);
            }
        }
        if pipe.write_all(&reply).await.is_err() {
            return;
        }
        reply.clear();
    }
}

fn lock(served: &Mutex<Served>) -> std::sync::MutexGuard<'_, Served> {
    served.lock().unwrap_or_else(PoisonError::into_inner)
}
