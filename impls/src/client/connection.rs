//! A connection of a lock client to a Redis store: the redis crate's own client over the streams of a [`Host`].
//!
//! The redis crate's `ConnectionManager` and its Sentinel client open sockets of their own, which no simulated world
//! can see. This module does what they do, over a `Host`: it connects when it must, gives every command a
//! timeout by the host's clock, discards a connection that broke so that the next command makes a new one (a command that is
//! given after the end of its connection was noticed does not fail for it), and asks the
//! Sentinels for the primary before every connect where a store is replicated: one after another, beginning with the
//! one that answered last, until one names an address whose server says of itself that it is a primary.
//!
//! A subscription ([`Connection::subscribe`]) is a connection of its own to the same store, as every client library has it.
//!
//! Left out on purpose: a command is never sent twice (whether to try again is part of a lock's design), replies pushed
//! by the server are dropped, a subscription that broke is not made again, and events of Sentinels are not subscribed to:
//! whoever loses a connection asks again.
//!
//! Sources: `redis::aio::MultiplexedConnection` of redis 1.8; "Guidelines for Redis clients with support for Redis
//! Sentinel", redis.io.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::Stream as _;
use picklock_model::ids::Origin;
use picklock_redis::PORT;
use picklock_redis::server::sentinel;
use picklock_sim::design::{Context, StoreAddress};
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_sim::stream::Stream;
use picklock_sim::task::Task;
use redis::aio::{ConnectionLike, MultiplexedConnection, PubSub, PubSubStream};
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, Pipeline, RedisConnectionInfo, RedisError, RedisFuture,
    RedisResult, ServerErrorKind, Value,
};
use tokio::sync::Mutex;

/// A connection to one store, shared by all its clones.
///
/// It implements the redis crate's [`ConnectionLike`]: `cmd(..).query_async(&mut connection.clone())` and
/// `Script::invoke_async` work as with any other. Commands of several tasks are sent one after another without waiting
/// for each other's replies, and answered in that order.
///
/// A command fails with an I/O error of kind `TimedOut` when no reply has come within the timeout; whether the store
/// executed it is then unknown. So it is with every other I/O error.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    address: StoreAddress,
    timeout: Duration,
    /// The origin of its requests, on a host that serves others.
    serves: Option<Origin>,
    /// The link in use.
    slot: std::sync::Mutex<Option<Arc<Link>>>,
    /// Held by whoever connects, so that others wait for that one connect.
    connecting: Mutex<()>,
    /// The Sentinel to ask first.
    preferred: AtomicUsize,
}

/// One established connection. Its socket closes when the link is discarded, or dropped by its last user.
struct Link {
    /// Where it leads.
    peer: String,
    port: u16,
    client: MultiplexedConnection,
    driver: Task,
    /// True once it is of no more use: it was given up, or its other end is gone.
    discarded: Arc<AtomicBool>,
}

impl Connection {
    /// A connection from `host` to the store at `address`. It connects when the first command is given.
    ///
    /// `timeout` bounds each connect (with its handshake, and the questions to the Sentinels) and each command, on the
    /// host's clock.
    #[must_use]
    pub fn new(host: &Host, address: StoreAddress, timeout: Duration) -> Connection {
        Connection::made(host, address, timeout, None)
    }

    /// As [`new`](Connection::new), on a host that asks the store in the service of others: of this origin.
    pub(crate) fn serving(
        host: &Host,
        address: StoreAddress,
        timeout: Duration,
        origin: Origin,
    ) -> Connection {
        Connection::made(host, address, timeout, Some(origin))
    }

    fn made(host: &Host, address: StoreAddress, timeout: Duration, serves: Option<Origin>) -> Connection {
        Connection {
            inner: Arc::new(Inner {
                host: host.clone(),
                address,
                timeout,
                serves,
                slot: std::sync::Mutex::new(None),
                connecting: Mutex::new(()),
                preferred: AtomicUsize::new(0),
            }),
        }
    }

    /// As [`new`](Connection::new), connected when it returns.
    ///
    /// # Errors
    /// When the store, or a Sentinel that knows it, could not be reached in time.
    pub async fn open(host: &Host, address: StoreAddress, timeout: Duration) -> RedisResult<Connection> {
        let connection = Connection::new(host, address, timeout);
        connection.connect().await?;
        Ok(connection)
    }

    /// A connection to the store number `index` (from 0) of a client's context, with half the lease time as its timeout:
    /// a reply that comes later than that leaves little of the lease to work in. It connects with the first command.
    ///
    /// # Errors
    /// When the design has fewer stores.
    pub fn to(context: &Context, index: usize) -> Result<Connection, LockError> {
        let address = context.stores.get(index).ok_or_else(|| {
            LockError::new(format!("there is no store {index}: the design has {}", context.stores.len()))
        })?;
        Ok(Connection::new(&context.host, address.clone(), context.ttl / 2))
    }

    /// Connects now, unless it is connected already.
    ///
    /// # Errors
    /// When the store, or a Sentinel that knows it, could not be reached in time.
    pub async fn connect(&self) -> RedisResult<()> {
        self.link().await.map(drop)
    }

    /// Subscribes to a channel, over a connection that is closed when what is returned is dropped. What is published
    /// after this returns is seen, until that connection breaks.
    ///
    /// # Errors
    /// When the store could not be reached, or did not answer in time.
    pub async fn subscribe(&self, channel: &str) -> RedisResult<Subscription> {
        let inner = &*self.inner;
        let link = self.link().await?;
        let subscribing = async {
            let stream = inner.host.connect(&link.peer, link.port).await?;
            let mut messages = PubSub::new(&RedisConnectionInfo::default(), stream).await?;
            messages.subscribe(channel).await?;
            Ok(Subscription { messages: messages.into_on_message() })
        };
        let subscribed = inner.host.timeout(inner.timeout, subscribing).await;
        subscribed.unwrap_or_else(|_| Err(inner.late("no subscription at")))
    }

    /// The link in use, or a new one.
    async fn link(&self) -> RedisResult<Arc<Link>> {
        let inner = &*self.inner;
        if let Some(link) = inner.usable() {
            return Ok(link);
        }
        // Boxed since it is rare and large: every command's future would be as large.
        let connecting = Box::pin(async {
            let _connecting = inner.connecting.lock().await;
            if let Some(link) = inner.usable() {
                return Ok(link);
            }
            // The broken link goes first, so that its socket is closed before the next one is opened.
            let broken = inner.slot().take();
            drop(broken);
            let link = Arc::new(inner.reach().await?);
            *inner.slot() = Some(Arc::clone(&link));
            Ok(link)
        });
        inner
            .host
            .timeout_boxed(inner.timeout, connecting)
            .await
            .unwrap_or_else(|_| Err(inner.late("no connection to")))
    }

    /// Waits for a reply on `link`, and discards the link when what happens says that it is of no more use.
    async fn reply<T>(
        &self,
        link: &Link,
        reply: Pin<Box<impl Future<Output = RedisResult<T>> + Send>>,
        refused_as_replica: impl Fn(&T) -> bool,
    ) -> RedisResult<T> {
        let inner = &*self.inner;
        match inner.host.timeout_boxed(inner.timeout, reply).await {
            Ok(Ok(value)) => {
                if inner.asks_sentinels() && refused_as_replica(&value) {
                    link.discard();
                }
                Ok(value)
            }
            Ok(Err(error)) => {
                if error.is_io_error() || error.is_unrecoverable_error() {
                    link.discard();
                }
                Err(error)
            }
            Err(_) => {
                // The connection may well be sound and only slow, and is kept as the redis crate keeps it. A primary
                // that does not answer may have been replaced, though: the Sentinels know.
                if inner.asks_sentinels() {
                    link.discard();
                }
                Err(inner.late("no reply from"))
            }
        }
    }
}

/// A subscription to one channel.
pub struct Subscription {
    messages: PubSubStream,
}

impl Subscription {
    /// Waits for the next message. False: the connection broke, and none will come.
    pub async fn message(&mut self) -> bool {
        poll_fn(|cx| Pin::new(&mut self.messages).poll_next(cx)).await.is_some()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let link = self.link().await?;
            let mut client = link.client.clone();
            self.reply(&link, Box::pin(client.send_packed_command(cmd)), says_read_only).await
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let link = self.link().await?;
            let mut client = link.client.clone();
            let replies = Box::pin(client.send_packed_commands(pipeline, offset, count));
            self.reply(&link, replies, |replies| replies.iter().any(says_read_only)).await
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("address", &self.inner.address).finish_non_exhaustive()
    }
}

impl Inner {
    /// Connects to the store, wherever it is now.
    async fn reach(&self) -> RedisResult<Link> {
        match &self.address {
            StoreAddress::Host(name) => self.open(name, PORT).await,
            StoreAddress::Among(_) => Err(RedisError::from((
                ErrorKind::InvalidClientConfig,
                "a primary of Redis is named by Sentinels",
            ))),
            StoreAddress::Ask(sentinels) => {
                let first = self.preferred.load(Ordering::Relaxed);
                let mut failure = None;
                for nth in (first..first + sentinels.len()).map(|nth| nth % sentinels.len()) {
                    match self.primary_of(&sentinels[nth], sentinels.len()).await {
                        Ok(link) => {
                            self.preferred.store(nth, Ordering::Relaxed);
                            return Ok(link);
                        }
                        Err(error) => failure = Some(error),
                    }
                }
                Err(failure.unwrap_or_else(|| {
                    RedisError::from((ErrorKind::InvalidClientConfig, "there is no Sentinel to ask"))
                }))
            }
        }
    }

    async fn open(&self, peer: &str, port: u16) -> RedisResult<Link> {
        let stream = self.host.connect(peer, port).await?;
        let stream = match self.serves {
            Some(origin) => stream.serving(origin),
            None => stream,
        };
        Link::over(&self.host, stream, peer, port).await
    }

    /// The connection to the primary that a Sentinel names, which must itself say that it is one. One of `all` has
    /// an equal share of the time that there is, so that one that does not answer leaves time for the others.
    async fn primary_of(&self, sentinel: &str, all: usize) -> RedisResult<Link> {
        let share = self.timeout / u32::try_from(all + 1).unwrap_or(u32::MAX);
        let (host, port) = match self.host.timeout(share, self.ask(sentinel)).await {
            Ok(answer) => answer?,
            Err(_) => return Err(self.late("no answer from a Sentinel about")),
        };
        let confirmed = async {
            let link = self.open(&host, port).await?;
            let role: Vec<Value> = redis::cmd("ROLE").query_async(&mut link.client.clone()).await?;
            if matches!(role.first(), Some(Value::BulkString(role)) if role == b"master") {
                return Ok(link);
            }
            Err(RedisError::from((ErrorKind::UnexpectedReturnType, "the server named is not a primary")))
        };
        self.host.timeout(share * 2, confirmed).await.unwrap_or_else(|_| Err(self.late("no primary of")))
    }

    /// Asks a Sentinel where the primary is, over a connection that is closed with the answer.
    async fn ask(&self, sentinel: &str) -> RedisResult<(String, u16)> {
        let link = self.open(sentinel, sentinel::PORT).await?;
        let answer: Option<(String, u16)> = redis::cmd("SENTINEL")
            .arg("GET-MASTER-ADDR-BY-NAME")
            .arg(sentinel::PRIMARY_NAME)
            .query_async(&mut link.client.clone())
            .await?;
        answer.ok_or_else(|| {
            RedisError::from((ErrorKind::MasterNameNotFoundBySentinel, "the Sentinel knows no primary"))
        })
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Link>>> {
        self.slot.lock().expect("nothing panics while it holds this lock")
    }

    /// The link in use, unless there is none or it is of no more use.
    fn usable(&self) -> Option<Arc<Link>> {
        self.slot().as_ref().filter(|link| !link.discarded.load(Ordering::Relaxed)).cloned()
    }

    fn asks_sentinels(&self) -> bool {
        matches!(self.address, StoreAddress::Ask(_))
    }

    /// The error for something that did not happen in time; `what` ends before the name of the store.
    fn late(&self, what: &str) -> RedisError {
        let name = match &self.address {
            StoreAddress::Host(name) => name,
            StoreAddress::Ask(_) | StoreAddress::Among(_) => sentinel::PRIMARY_NAME,
        };
        io::Error::new(io::ErrorKind::TimedOut, format!("{what} {name} within {:?}", self.timeout)).into()
    }
}

impl Link {
    /// Shakes hands, and starts the task on `host` that writes requests and reads replies.
    async fn over(host: &Host, stream: Stream, peer: &str, port: u16) -> RedisResult<Link> {
        // The crate's own timeouts follow tokio's clock, not the host's.
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let info = RedisConnectionInfo::default();
        let (client, driver) = MultiplexedConnection::new_with_config(&info, stream, config).await?;
        let discarded = Arc::new(AtomicBool::new(false));
        let noticing = Arc::clone(&discarded);
        let driver = host.spawn(async move {
            driver.await;
            noticing.store(true, Ordering::Relaxed);
        });
        Ok(Link { peer: peer.to_owned(), port, client, driver, discarded })
    }

    /// Closes the socket; requests under way on it fail.
    fn discard(&self) {
        self.discarded.store(true, Ordering::Relaxed);
        self.driver.abort();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// True for the error of a server that takes no writes because it is a replica.
fn says_read_only(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.kind() == Some(ServerErrorKind::ReadOnly))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_can_be_shared_between_tasks() {
        fn shared<T: Clone + Send + Sync + 'static>() {}
        shared::<Connection>();
    }

    #[test]
    fn only_the_refusal_of_a_replica_counts_as_read_only() {
        let reply = |text: &str| redis::parse_redis_value(text.as_bytes()).unwrap();
        assert!(says_read_only(&reply("-READONLY You can't write against a read only replica.\r\n")));
        assert!(!says_read_only(&reply("-ERR syntax error\r\n")));
        assert!(!says_read_only(&reply("+OK\r\n")));
    }
}
