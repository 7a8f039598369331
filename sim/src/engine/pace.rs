//! The pace of a served world: true time goes with the real clock, and real peers come and go through its doors.
//!
//! Tasks, agenda, network and levers are those of the event engine; only that the agenda waits for the real clock
//! instead of jumping. Whoever speaks from outside does so in the name of one host, `clients`, which cuts and delays can
//! target. Beside the world's own latency a message takes what the machine takes.
//!
//! Left out on purpose: flow control. What a peer sends faster than its node reads is queued in memory.

use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::boot::Boot;
use super::event::Executor;
use crate::base::ids::HostId;
use crate::base::time::{TrueTime, nanos};
use crate::host::Connect;
use crate::host::Host;
use crate::host::stream::Stream;
use crate::world::{WAY_OUT, World};

/// How many bytes are carried over the border at once.
const BUFFER: usize = 64 * 1024;

/// Real time as the true time of a world.
#[derive(Clone)]
pub(crate) struct Pace {
    began: Instant,
    /// Told when something outside the executor has touched the world.
    nudge: Arc<Notify>,
}

impl Pace {
    /// A pace that begins now.
    pub(crate) fn begin() -> Pace {
        Pace { began: Instant::now(), nudge: Arc::new(Notify::new()) }
    }

    fn now(&self) -> TrueTime {
        TrueTime(nanos(self.began.elapsed()))
    }

    /// Runs a task outside the world: it finds the world's time right, and the world looks at what it did.
    #[expect(clippy::disallowed_methods, reason = "the task belongs to the real world, not to a host")]
    fn spawn(&self, world: &Arc<World>, future: impl Future<Output = ()> + Send + 'static) {
        let (pace, world) = (self.clone(), Arc::clone(world));
        tokio::spawn(Visitor { pace, world, future: Box::pin(future) });
    }
}

struct Visitor {
    pace: Pace,
    world: Arc<World>,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Future for Visitor {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.world.state().advance(self.pace.now());
        let outcome = self.future.as_mut().poll(cx);
        self.pace.nudge.notify_one();
        outcome
    }
}

/// A real socket that leads to a port of a host.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) host: HostId,
    pub(crate) port: u16,
}

/// Runs a world beside the real one until told to stop.
pub(crate) async fn run(
    world: &Arc<World>,
    boots: &[Boot],
    pace: &Pace,
    (outside, doors): (HostId, Vec<Door>),
    stop: impl Future<Output = ()>,
) {
    let mut executor = Executor::new(world, boots, None);
    executor.boot_all();
    for door in doors {
        pace.spawn(world, keep(door, executor.host(outside), pace.clone()));
    }
    let mut stop = std::pin::pin!(stop);
    loop {
        world.state().advance(pace.now());
        executor.run_ready();
        let now = pace.now();
        while world.state().step(now, None) {
            executor.time_moved();
            executor.run_ready();
        }
        let next = world.state().next_due();
        let until_next = async {
            match next {
                Some(at) => tokio::time::sleep_until(pace.began + at.since(TrueTime(0))).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => return,
            () = pace.nudge.notified() => {}
            () = until_next => {}
        }
        executor.time_moved();
    }
}

/// Lets real clients in.
async fn keep(door: Door, outside: Host, pace: Pace) {
    loop {
        // An accept fails for want of file descriptors, say: the next one may not.
        let Ok((socket, address)) = door.listener.accept().await else { continue };
        let (host, port, outside) = (door.host, door.port, outside.clone());
        let world = Arc::clone(&outside.world);
        pace.spawn(&world, async move {
            if let Ok(stream) = Connect::new(&outside, host, port).for_client(&address.to_string()).await {
                bridge(socket, stream).await;
            }
        });
    }
}

/// The program of the outside host: it connects to real addresses for hosts of the world.
pub(crate) async fn way_out(host: Host, pace: Pace) {
    let Ok(listener) = host.bind(WAY_OUT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        pace.spawn(&host.world, async move {
            // Who asked sees its connection closed if this fails.
            let _ = go_out(stream).await;
        });
    }
}

async fn go_out(stream: Stream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut address = String::new();
    stream.read_line(&mut address).await?;
    let socket = TcpStream::connect(address.trim_end()).await?;
    bridge(socket, stream).await;
    Ok(())
}

/// Carries bytes both ways until the world's side is over or the real side is broken.
async fn bridge(socket: TcpStream, stream: impl AsyncRead + AsyncWrite) {
    // Without it small replies would wait for acknowledgements; if it cannot be set, they do.
    let _ = socket.set_nodelay(true);
    let (from_socket, mut to_socket) = socket.into_split();
    let (from_world, mut to_world) = tokio::io::split(stream);
    let inward = async {
        let mut from_socket = BufReader::with_capacity(BUFFER, from_socket);
        if tokio::io::copy_buf(&mut from_socket, &mut to_world).await.is_ok() {
            // The real peer has said its last word and may still listen.
            let _ = to_world.shutdown().await;
            pending::<()>().await;
        }
    };
    let outward = async {
        let mut from_world = BufReader::with_capacity(BUFFER, from_world);
        let _ = tokio::io::copy_buf(&mut from_world, &mut to_socket).await;
        let _ = to_socket.shutdown().await;
    };
    tokio::select! {
        biased;
        () = outward => {}
        () = inward => {}
    }
}
