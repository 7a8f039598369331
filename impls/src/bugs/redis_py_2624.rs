//! redis-py #2624: a command that is cancelled leaves its answer on the connection, and the next one reads it.
//!
//! *Claim:* the answer that a command returns is its own.
//! *Mechanism:* a caller that is cancelled after its command was sent and before the answer was read leaves the connection
//! as it is. The next command on it is sent and reads the answer of the one before; and so it goes on, each answer one too
//! late. A caller whose request for the lock was cancelled, and granted, comes back later, is refused, and reads that it was
//! granted.
//! *Versions:* `redis.asyncio` up to 4.5.3 (CVE-2023-28858, CVE-2023-28859). 4.5.4 let a cancelled command go on to its end;
//! since 4.5.5 its connection is closed, which is what the mended version here does.
//! *Source:* <https://github.com/redis/redis-py/issues/2624>, <https://github.com/redis/redis-py/issues/2665>,
//! mended by <https://github.com/redis/redis-py/pull/2695>
//!
//! One connection for the client (`single_connection_client`), which callers use one after another. It has a RESP2 client of
//! its own, since the one of the other locks assigns answers rightly.

use std::io;

use picklock_model::ids::Key;
use picklock_redis::PORT;
use picklock_sim::design::{Context, Design, Family, StoreAddress, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::Args;
use picklock_sim::params;
use picklock_sim::stream::Stream;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use super::version::FIXED;
use crate::redis::common::{millis, on_stores};

/// The lock that is granted by an old answer.
pub(super) static FAMILY: Family = Family {
    name: "redis-py-2624",
    claim: "redis-py's asyncio Lock on the one connection of its client",
    weakness: "after a caller was cancelled, each command reads the answer of the one before it",
    source: "redis-py up to 4.5.3, https://github.com/redis/redis-py/issues/2624",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, Topology::independent(1), move |context, _| async move {
        Ok(AsyncLock {
            client: Client::new(&context, fixed)?,
            millis: millis(context.ttl).to_string(),
            host: context.host,
        })
    })
}

/// The script of the library, which is sent as it is.
const RELEASE: &str = "if redis.call('get', KEYS[1]) ~= ARGV[1] then
   return 0
 end
 redis.call('del', KEYS[1])
 return 1";

struct AsyncLock {
    client: Client,
    /// The lease, as it is sent.
    millis: String,
    host: Host,
}

impl Lock for AsyncLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let token = self.host.rng().owner_id();
        let set = ["SET", key.as_str(), &token, "PX", &self.millis, "NX"];
        let granted = self.client.command(&set).await? == Answer::Line("OK".to_owned());
        Ok(granted.then(|| Grant::new(key, token)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let eval = ["EVAL", RELEASE, "1", grant.key.as_str(), &grant.owner];
        if self.client.command(&eval).await? == Answer::Line("1".to_owned()) {
            Ok(())
        } else {
            Err(LockError::in_doubt("cannot release a lock that is no longer owned"))
        }
    }
}

/// The reply of a server, as far as these commands need it.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// A simple string or a number.
    Line(String),
    /// Nothing, or what nobody has asked for here.
    Other,
}

/// A client with one connection.
struct Client {
    host: Host,
    server: String,
    connection: Mutex<Option<BufReader<Stream>>>,
    fixed: bool,
}

impl Client {
    fn new(context: &Context, fixed: bool) -> Result<Client, LockError> {
        let Some(StoreAddress::Host(server)) = context.stores.first().cloned() else {
            return Err(LockError::new("the store has no address of its own"));
        };
        Ok(Client { host: context.host.clone(), server, connection: Mutex::default(), fixed })
    }

    /// Sends a command and reads an answer: its own, if the one before has read its own.
    async fn command(&self, words: &[&str]) -> io::Result<Answer> {
        let mut slot = self.connection.lock().await;
        if slot.is_none() {
            *slot = Some(BufReader::new(self.host.connect(&self.server, PORT).await?));
        }
        if !self.fixed {
            let answered = match slot.as_mut() {
                Some(connection) => exchange(connection, words).await,
                None => Err(io::ErrorKind::NotConnected.into()),
            };
            if answered.is_err() {
                *slot = None;
            }
            return answered;
        }
        // Taken out as long as it is in use: a caller that is cancelled takes it along, and it is closed.
        let mut connection = slot.take().ok_or(io::ErrorKind::NotConnected)?;
        let answer = exchange(&mut connection, words).await?;
        *slot = Some(connection);
        Ok(answer)
    }
}

async fn exchange(connection: &mut BufReader<Stream>, words: &[&str]) -> io::Result<Answer> {
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request += &format!("${}\r\n{word}\r\n", word.len());
    }
    connection.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    if connection.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let line = line.trim_end();
    let (kind, rest) = line.split_at(line.len().min(1));
    Ok(match (kind, rest.parse::<usize>()) {
        ("+" | ":", _) => Answer::Line(rest.to_owned()),
        ("$", Ok(length)) => {
            connection.read_exact(&mut vec![0; length + 2]).await?;
            Answer::Other
        }
        _ => Answer::Other,
    })
}
