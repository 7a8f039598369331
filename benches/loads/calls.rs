//! Calls of etcd: reads of one key, in a world of one member, and over an in-memory pipe.
//!
//! Over the pipe the same client's and server's side of HTTP/2 carry the same messages between two tasks. The server has a key to answer with and
//! nothing else: there is no network, no clock, no log and no trace around it, and no simulation of these calls can be faster.

#![expect(clippy::disallowed_methods, reason = "the tasks of a pipe are on no host")]

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{Error, RecvStream};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Version};
use picklock_etcd::messages::{Header, KeyValue, PutRequest, PutResponse, RangeRequest, RangeResponse};
use picklock_etcd::requests::get;
use picklock_etcd::{CLIENT_PORT, Channel, Etcd, Status};
use picklock_model::ids::Key;
use picklock_model::plan::Plan;
use picklock_sim::design::{Context, Design, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use prost::Message;
use std::time::Duration;
use tokio::io::DuplexStream;

use super::{Shape, plan, run};

/// How many clients there are, each with a connection.
const CLIENTS: u32 = 2;
/// How many calls each makes.
const CALLS: usize = 500;
/// What is read.
const KEY: &str = "stock";
/// What is found.
const VALUE: &[u8] = b"0123456789abcdef0123456789abcdef01234567";
/// How much a pipe holds, in bytes.
const PIPE: usize = 16 * 1024;
/// The byte and the length before each message.
const PREFIX: usize = 5;

/// The calls in a world.
pub(crate) struct Calls {
    design: Design,
    plan: Plan,
}

impl Calls {
    pub(crate) fn new() -> Calls {
        let client = |context: Context| async move { Ok(Client::lock(Reader(context.host))) };
        let design = Design::new("calls", client).on_stores(Topology::independent(1), Etcd::of(1));
        let shape = Shape {
            design: "calls",
            clients: CLIENTS,
            sections: 1,
            think: Duration::from_millis(30),
            horizon: Duration::from_secs(10),
            releases_refusals: false,
        };
        Calls { design, plan: plan(&shape) }
    }

    /// Makes the calls in a world. Returns how many there are.
    #[inline(never)]
    pub(crate) fn in_world(&self) -> usize {
        drop(run(Engine::Event, &self.design, &self.plan));
        CLIENTS as usize * CALLS
    }

    /// Makes the calls over pipes. Returns how many there are.
    #[inline(never)]
    pub(crate) fn over_pipes() -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing of the system");
        for _ in 0..CLIENTS {
            runtime.block_on(talk()).expect("a server that is always there answers");
        }
        CLIENTS as usize * CALLS
    }
}

/// A client that reads the key as often as it is to before it takes itself for the holder.
struct Reader(Host);

impl Reader {
    async fn read(&self) -> Result<(), Status> {
        let mut channel = Channel::connect(&self.0, "node-1", CLIENT_PORT, None).await?;
        let put = PutRequest { key: KEY.into(), value: VALUE.into(), ..PutRequest::default() };
        let _: PutResponse = channel.call("etcdserverpb.KV/Put", &put).await?;
        for _ in 0..CALLS {
            let answer: RangeResponse = channel.call("etcdserverpb.KV/Range", &get(KEY.as_bytes())).await?;
            assert_eq!(answer.kvs[0].value, VALUE);
        }
        Ok(())
    }
}

impl Lock for Reader {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.read().await.map_err(|status| LockError::new(status.message))?;
        Ok(Some(Grant::new(key, self.0.name().to_string())))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

async fn talk() -> Result<(), Error> {
    let (near, far) = tokio::io::duplex(PIPE);
    let server = tokio::spawn(serve(far));
    let (mut requests, connection) = h2::client::handshake(near).await?;
    let driver = tokio::spawn(connection);
    for _ in 0..CALLS {
        let answer = call(&mut requests).await?;
        assert_eq!(answer.kvs[0].value, VALUE);
    }
    server.abort();
    driver.abort();
    Ok(())
}

async fn call(requests: &mut SendRequest<Bytes>) -> Result<RangeResponse, Error> {
    std::future::poll_fn(|cx| requests.poll_ready(cx)).await?;
    let request = Request::builder()
        .method(Method::POST)
        .version(Version::HTTP_2)
        .uri("http://etcd/etcdserverpb.KV/Range")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .expect("nothing is wrong with it");
    let (answer, mut out) = requests.send_request(request, false)?;
    out.send_data(encoded(&get(KEY.as_bytes())), true)?;
    let mut body = answer.await?.into_body();
    let message = received(&mut body).await?;
    body.trailers().await?;
    Ok(message)
}

async fn serve(pipe: DuplexStream) -> Result<(), Error> {
    let mut connection = h2::server::handshake(pipe).await?;
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted?;
        tokio::spawn(answer(request.into_body(), respond));
    }
    Ok(())
}

async fn answer(mut body: RecvStream, mut respond: SendResponse<Bytes>) -> Result<(), Error> {
    let RangeRequest { key, .. } = received(&mut body).await?;
    let kv = KeyValue { key, value: VALUE.into(), create_revision: 2, mod_revision: 2, version: 1, lease: 0 };
    let header = Header { cluster_id: 1, member_id: 1, revision: 2, raft_term: 2 };
    let message = RangeResponse { header: Some(header), kvs: vec![kv], more: false, count: 1 };
    let mut response = Response::new(());
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    let mut out = respond.send_response(response, false)?;
    out.send_data(encoded(&message), false)?;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(0));
    out.send_trailers(trailers)
}

/// A message as it is sent.
fn encoded(message: &impl Message) -> Bytes {
    let len = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(PREFIX + len);
    bytes.put_u8(0);
    bytes.put_u32(len as u32);
    message.encode(&mut bytes).expect("the buffer grows");
    bytes.freeze()
}

/// A message that comes in one piece.
async fn received<M: Message + Default>(body: &mut RecvStream) -> Result<M, Error> {
    let data = body.data().await.expect("there is one")?;
    body.flow_control().release_capacity(data.len())?;
    Ok(M::decode(&data[PREFIX..]).expect("it is what was sent"))
}
