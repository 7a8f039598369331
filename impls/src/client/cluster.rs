//! A connection of a lock client to a Redis Cluster: a thin client of picklock's own over the streams of a [`Host`].
//!
//! The redis crate's cluster client has no seam for a host: it makes its connections by a function without a context, starts tasks and
//! sleeps by tokio's clock, and draws from the thread's random numbers, none of which a simulated world can repeat. This client does
//! what that one does for a command with a key:
//!
//! - It asks any node it knows for CLUSTER SLOTS, and sends a command to the primary of its key's slot.
//! - MOVED: the command is sent again at once, to the node named, and the slots are asked for anew. ASK: it is sent again to the node
//!   named behind ASKING, and nothing is learnt.
//! - TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN: the command is sent again after 1.28 seconds.
//! - READONLY, and a connection that broke: the slots are asked for anew, and the command is sent again.
//! - No reply in time: it is sent again, as [`Silent`] says. A command may so be executed twice.
//! - After sixteen times the last error is returned.
//!
//! The time of a command is limited as a whole, and each attempt to half of that.
//!
//! Left out on purpose: commands on keys of several slots, reads from replicas, Pub/Sub, pipelines. SCRIPT commands go to all primaries.
//!
//! Sources: `choose_response` of `cluster_handling/async_connection/request.rs` of redis 1.8; `_execute_command` of `cluster.py` of
//! redis-py 8.1 for [`Silent::Ask`].

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use picklock_redis::slot_of;
use picklock_sim::design::{Context, StoreAddress};
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use redis::aio::ConnectionLike;
use redis::{
    Arg, Cmd, ErrorKind, FromRedisValue as _, Pipeline, RedisError, RedisFuture, RedisResult, RetryMethod,
    Value,
};

use super::connection::Connection;

/// How often a command is sent again.
const RETRIES: u32 = 16;

/// How long to wait before a command is sent again that a node could not execute for now. The crate draws a time between this and one
/// that doubles, and is larger only after the seventh time.
const WAIT: Duration = Duration::from_millis(1_280);

/// A connection to all nodes of a cluster, shared by all its clones.
#[derive(Clone)]
pub struct ClusterConnection {
    inner: Arc<Inner>,
}

/// What a client does when a node sends no reply in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silent {
    /// It asks for the slots, the silent node last, and sends the command to the primary of the slot.
    Ask,
    /// It sends the command to the same node again.
    Resend,
}

struct Inner {
    host: Host,
    /// The nodes that are known from the start.
    seeds: Vec<String>,
    timeout: Duration,
    silent: Silent,
    known: std::sync::Mutex<Known>,
}

/// What a client knows of the cluster.
#[derive(Default)]
struct Known {
    /// The first and the last slot of each range, and its primary.
    ranges: Vec<(u16, u16, String)>,
    nodes: BTreeMap<String, Connection>,
    /// The node that sent no reply in time, and is asked for the slots after all others.
    silent: Option<String>,
}

/// What CLUSTER SLOTS says of a range: its first and last slot, then its nodes, the primary first.
type Range = (u16, u16, (String, u16));

impl ClusterConnection {
    /// A connection to the cluster of a client's context. `timeout` limits each command. It connects with the first one.
    ///
    /// # Errors
    /// When the design does not stand on a cluster.
    pub fn to(context: &Context, timeout: Duration, silent: Silent) -> Result<ClusterConnection, LockError> {
        let Some(StoreAddress::Ask(seeds)) = context.stores.first() else {
            return Err(LockError::new("the design has no cluster"));
        };
        let inner = Inner {
            host: context.host.clone(),
            seeds: seeds.clone(),
            timeout,
            silent,
            known: std::sync::Mutex::default(),
        };
        Ok(ClusterConnection { inner: Arc::new(inner) })
    }

    /// Asks for the slots now.
    ///
    /// # Errors
    /// When no node has answered in time.
    pub async fn connect(&self) -> RedisResult<()> {
        let inner = &*self.inner;
        inner.host.timeout_boxed(inner.timeout, Box::pin(inner.ask())).await.unwrap_or_else(|_| Err(late()))
    }
}

impl ConnectionLike for ClusterConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let inner = &*self.inner;
            let executing = Box::pin(inner.execute(cmd));
            inner.host.timeout_boxed(inner.timeout, executing).await.unwrap_or_else(|_| Err(late()))
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        let error = (ErrorKind::Client, "no pipeline is sent to a cluster");
        Box::pin(async move { Err(RedisError::from(error)) })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

impl fmt::Debug for ClusterConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterConnection").field("seeds", &self.inner.seeds).finish_non_exhaustive()
    }
}

impl Inner {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it holds this lock")
    }

    /// The connection to a node.
    fn node(&self, name: &str) -> Connection {
        let attempt = self.timeout / 2;
        let connect = || Connection::new(&self.host, StoreAddress::Host(name.to_owned()), attempt);
        self.known().nodes.entry(name.to_owned()).or_insert_with(connect).clone()
    }

    /// Asks the nodes one after another where the slots are, until one answers.
    async fn ask(&self) -> RedisResult<()> {
        let mut names: Vec<String> = self.known().nodes.keys().cloned().collect();
        names.extend(self.seeds.iter().filter(|seed| !names.contains(seed)).cloned().collect::<Vec<_>>());
        let first = self.host.rng().below(names.len() as u64);
        names.rotate_left(usize::try_from(first).unwrap_or(0));
        let silent = self.known().silent.take();
        names.sort_by_key(|name| Some(name) == silent.as_ref());
        let share = self.timeout / 4;
        let mut failure = None;
        for name in names {
            let mut node = self.node(&name);
            let mut command = redis::cmd("CLUSTER");
            command.arg("SLOTS");
            let asking = Box::pin(async { ranges(node.req_packed_command(&command).await?) });
            match self.host.timeout_boxed(share, asking).await {
                Ok(Ok(ranges)) if !ranges.is_empty() => {
                    self.known().ranges = ranges;
                    return Ok(());
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => failure = Some(error),
                Err(_) => failure = Some(late()),
            }
        }
        Err(failure.unwrap_or_else(|| {
            RedisError::from((ErrorKind::ClusterConnectionNotFound, "no node knows the slots"))
        }))
    }

    /// The primary of a slot.
    async fn primary_of(&self, slot: u16) -> RedisResult<String> {
        for asks in [true, false] {
            let found = {
                let known = self.known();
                let range = known.ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&slot));
                range.map(|(.., name)| name.clone())
            };
            match found {
                Some(name) => return Ok(name),
                None if asks => self.ask().await?,
                None => {}
            }
        }
        Err(RedisError::from((ErrorKind::ClusterConnectionNotFound, "nobody serves the slot")))
    }

    /// The slots have to be asked for before they are used again.
    fn forget(&self) {
        self.known().ranges.clear();
    }

    /// As [`Inner::forget`], and this node is the last to be asked.
    fn forget_silent(&self, node: String) {
        self.forget();
        self.known().silent = Some(node);
    }

    async fn execute(&self, cmd: &Cmd) -> RedisResult<Value> {
        let Some(key) = key_of(cmd) else { return self.on_all(cmd).await };
        let slot = slot_of(key);
        let mut redirected: Option<(String, bool)> = None;
        let mut retries = 0;
        loop {
            let target = match redirected.take() {
                Some(target) => Ok(target),
                None => self.primary_of(slot).await.map(|node| (node, false)),
            };
            let (node, error) = match target {
                Ok((node, asks)) => match self.send(&node, cmd, asks).await {
                    Ok(value) => return Ok(value),
                    Err(error) => (Some(node), error),
                },
                Err(error) => (None, error),
            };
            if retries == RETRIES {
                return Err(error);
            }
            retries += 1;
            let named = error.redirect_node().map(|(node, _)| host_of(node).to_owned());
            match error.retry_method() {
                RetryMethod::AskRedirect => redirected = named.map(|node| (node, true)),
                RetryMethod::MovedRedirect => {
                    self.forget();
                    redirected = named.map(|node| (node, false));
                }
                RetryMethod::RefreshSlotsAndRetry
                | RetryMethod::Reconnect
                | RetryMethod::ReconnectFromInitialConnections => self.forget(),
                RetryMethod::RetryImmediately => {
                    if let (Silent::Ask, Some(node)) = (self.silent, node) {
                        self.forget_silent(node);
                    }
                }
                RetryMethod::WaitAndRetry => self.host.sleep(WAIT).await,
                _ => return Err(error),
            }
        }
    }

    /// Sends a command to a node, behind ASKING if it was named by an ASK.
    async fn send(&self, node: &str, cmd: &Cmd, asks: bool) -> RedisResult<Value> {
        let mut node = self.node(node);
        if !asks {
            return node.req_packed_command(cmd).await?.extract_error();
        }
        let mut pipeline = redis::pipe();
        pipeline.cmd("ASKING").add_command(cmd.clone());
        let mut replies = node.req_packed_commands(&pipeline, 0, 2).await?;
        replies.pop().unwrap_or(Value::Nil).extract_error()
    }

    /// Sends a command without a key to all primaries; the last answer.
    async fn on_all(&self, cmd: &Cmd) -> RedisResult<Value> {
        self.primary_of(0).await?;
        let mut primaries: Vec<String> = self.known().ranges.iter().map(|(.., name)| name.clone()).collect();
        primaries.sort_unstable();
        primaries.dedup();
        let mut answer = Err(RedisError::from((ErrorKind::ClusterConnectionNotFound, "there is no primary")));
        for primary in primaries {
            let sent = self.send(&primary, cmd, false).await;
            // A shard that cannot be reached now is given the script when it is needed there.
            answer = if sent.is_ok() { sent } else { answer.or(sent) };
        }
        answer
    }
}

/// The key that decides where a command goes; `None` if it has none.
fn key_of(cmd: &Cmd) -> Option<&[u8]> {
    let mut args = cmd.args_iter().map(|arg| match arg {
        Arg::Simple(bytes) => bytes,
        _ => &[],
    });
    let name = args.next()?;
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    match () {
        () if is("SCRIPT") => None,
        // Behind the script and the number of its keys.
        () if is("EVAL") || is("EVALSHA") => args.nth(2),
        () => args.next(),
    }
}

/// The host of an address: all nodes of a simulated cluster listen on one port.
fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// The ranges in an answer to CLUSTER SLOTS.
fn ranges(answer: Value) -> RedisResult<Vec<(u16, u16, String)>> {
    let Value::Array(items) = answer.extract_error()? else { return Ok(Vec::new()) };
    let range = |item: Value| -> RedisResult<(u16, u16, String)> {
        let Value::Array(mut fields) = item else { return Err(unexpected()) };
        if fields.len() < 3 {
            return Err(unexpected());
        }
        fields.truncate(3);
        let Some(Value::Array(mut primary)) = fields.pop() else { return Err(unexpected()) };
        primary.truncate(2);
        let (first, last, (host, _)): Range = (
            u16::from_redis_value(fields.remove(0))?,
            u16::from_redis_value(fields.remove(0))?,
            <(String, u16)>::from_redis_value(Value::Array(primary))?,
        );
        Ok((first, last, host))
    };
    items.into_iter().map(range).collect()
}

fn unexpected() -> RedisError {
    RedisError::from((ErrorKind::UnexpectedReturnType, "no answer to CLUSTER SLOTS"))
}

fn late() -> RedisError {
    io::Error::new(io::ErrorKind::TimedOut, "no reply from the cluster in time").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_goes_where_its_first_key_is() {
        let key = |words: &[&str]| {
            let mut cmd = Cmd::new();
            words.iter().for_each(|word| _ = cmd.arg(*word));
            key_of(&cmd).map(<[u8]>::to_vec)
        };
        assert_eq!(key(&["SET", "k", "v", "NX"]), Some(b"k".to_vec()));
        assert_eq!(key(&["evalsha", "0123", "1", "k", "v"]), Some(b"k".to_vec()));
        assert_eq!(key(&["SCRIPT", "LOAD", "return 1"]), None);
    }

    #[test]
    fn the_primary_of_a_range_is_the_first_of_its_nodes() {
        let text = "*1\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$6\r\nnode-1\r\n:6379\r\n$2\r\nid\r\n*0\r\n*4\r\n$11\r\nreplica-1-1\r\n:6379\r\n$2\r\nid\r\n*0\r\n";
        let answer = redis::parse_redis_value(text.as_bytes()).unwrap();
        assert_eq!(ranges(answer).unwrap(), [(0, 5460, "node-1".to_owned())]);
        assert_eq!(ranges(Value::Array(Vec::new())).unwrap(), []);
    }
}
