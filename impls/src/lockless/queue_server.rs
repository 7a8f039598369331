//! A queue with its one consumer, in one process: requests wait in the order in which they arrived, and the consumer
//! makes one change after another.
//!
//! A request is answered when its change was made. The queue is in memory: what waits in it when the process dies is
//! gone, and its clients see their connections break. Left out on purpose: a queue that outlives its consumer, several
//! consumers, and redelivery.
//!
//! The wire is a fixed frame: the change, the work in nanoseconds, the key; the answer is one byte.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::nanos;
use picklock_sim::design::ServerContext;
use picklock_sim::host::Host;
use picklock_sim::resource::{Operation, Resource};
use picklock_sim::stream::Stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Mutex;

const PORT: u16 = 5672;
const MADE: u8 = 1;

/// How long the consumer waits for the resource.
const PATIENCE: Duration = Duration::from_secs(2);

/// A change to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The register.
    pub(crate) key: Key,
    /// The number to add to it.
    pub(crate) delta: i64,
    /// How long the consumer works between reading and writing.
    pub(crate) work: Duration,
}

/// Serves the queue until its host stops.
pub(crate) async fn serve(context: ServerContext) {
    let host = context.host;
    let Ok(listener) = host.bind(PORT).await else { return };
    // A fair lock is a queue: whoever asks first is served first, and one at a time.
    let consumer = Arc::new(Mutex::new(Resource::new(host.clone(), PATIENCE)));
    while let Ok((stream, _)) = listener.accept().await {
        host.spawn(attend(host.clone(), stream, Arc::clone(&consumer)));
    }
}

async fn attend(host: Host, mut stream: Stream, consumer: Arc<Mutex<Resource>>) {
    while let Ok(request) = Request::read(&mut stream).await {
        let origin = stream.origin();
        let mut resource = consumer.lock().await;
        resource.serve_for(origin);
        if make(&host, &mut resource, &request).await.is_none() {
            // The effect of the change is not known here, so the client gets no answer.
            return;
        }
        drop(resource);
        if stream.write_all(&[MADE]).await.is_err() {
            return;
        }
    }
}

async fn make(host: &Host, resource: &mut Resource, request: &Request) -> Option<()> {
    let value = resource.apply(&request.key, Operation::Read, None).await.ok()?;
    host.sleep(request.work).await;
    let value = Operation::Write(value.saturating_add(request.delta));
    resource.apply(&request.key, value, None).await.ok().map(drop)
}

/// Puts a change into the queue of a server and waits until it was made.
///
/// # Errors
/// When the connection cannot be made or breaks first; whether the change was made is then not known.
pub(crate) async fn ask(host: &Host, server: &str, request: &Request) -> io::Result<()> {
    let mut stream = host.connect(server, PORT).await?;
    stream.write_all(&request.encode()).await?;
    let mut answer = [0];
    stream.read_exact(&mut answer).await.map(drop)
}

impl Request {
    fn encode(&self) -> Vec<u8> {
        let key = self.key.as_str().as_bytes();
        let mut frame = Vec::with_capacity(18 + key.len());
        frame.extend_from_slice(&self.delta.to_le_bytes());
        frame.extend_from_slice(&nanos(self.work).to_le_bytes());
        frame.extend_from_slice(&(key.len() as u16).to_le_bytes());
        frame.extend_from_slice(key);
        frame
    }

    async fn read(stream: &mut Stream) -> io::Result<Request> {
        let delta = stream.read_i64_le().await?;
        let work = Duration::from_nanos(stream.read_u64_le().await?);
        let mut key = vec![0; usize::from(stream.read_u16_le().await?)];
        stream.read_exact(&mut key).await?;
        let key = std::str::from_utf8(&key).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Request { key: Key::new(key), delta, work })
    }
}
