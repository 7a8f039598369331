//! The pace of a served world: true time goes with the real clock, and real peers come and go through its doors.
//!
//! Tasks, queue, network and actions are those of the event engine; only that the queue waits for the real clock
//! instead of jumping. Whoever speaks from outside does so in the name of one host, `clients`, which cuts and delays can
//! target. Beside the world's own latency a message takes what the machine takes.
//!
//! Left out on purpose: flow control. What a peer sends faster than its node reads is queued in memory.

use std::fs::File;
use std::future::{Future, pending, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::event::Executor;
use super::program::HostProgram;
use crate::host::Connect;
use crate::host::Host;
use crate::host::stream::Stream;
use crate::world::{LiveCommand, WAY_OUT, World};
use picklock_model::ids::HostId;
use picklock_model::time::{TrueTime, nanos};

/// How many bytes are carried over the border at once.
const BUFFER: usize = 64 * 1024;

/// Real time as the true time of a world.
#[derive(Clone)]
pub(crate) struct Pace {
    began: Instant,
    /// Notified when something outside the executor has touched the world.
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
    /// Its sockets to come, should it move.
    pub(crate) moves: UnboundedReceiver<std::net::TcpListener>,
    pub(crate) address: SocketAddr,
    pub(crate) host: HostId,
    pub(crate) port: u16,
}

/// The switch of a door, which is closed while nothing listens behind it, as the port of a dead process is.
struct Hinge {
    host: HostId,
    port: u16,
    open: watch::Sender<bool>,
}

/// How long to wait before a door is opened again that another process has taken meanwhile, and for a file descriptor.
const RETRY: Duration = Duration::from_millis(100);

/// Runs a world beside the real one until it is asked to stop.
pub(crate) async fn run(
    world: &Arc<World>,
    programs: &[HostProgram],
    pace: &Pace,
    (outside, doors): (HostId, Vec<Door>),
    mut commands: UnboundedReceiver<LiveCommand>,
    stop: impl Future<Output = ()>,
) {
    let mut executor = Executor::new(world, programs, None);
    executor.start_all();
    let mut hinges = Vec::new();
    for door in doors {
        let (open, opens) = watch::channel(true);
        hinges.push(Hinge { host: door.host, port: door.port, open });
        pace.spawn(world, keep(door, opens, executor.host(outside), pace.clone()));
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
        let next = {
            let mut state = world.state();
            for hinge in &hinges {
                let opens = state.takes_connections(hinge.host, hinge.port);
                hinge.open.send_if_modified(|open| std::mem::replace(open, opens) != opens);
            }
            state.next_due()
        };
        let until_next = async {
            match next {
                Some(at) => tokio::time::sleep_until(pace.began + at.since(TrueTime(0))).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => return,
            Some(command) = commands.recv() => {
                let mut state = world.state();
                state.advance(pace.now());
                state.execute(command);
            }
            () = pace.nudge.notified() => {}
            () = until_next => {}
        }
        executor.time_moved();
    }
}

/// Lets real clients in while the door is open.
async fn keep(door: Door, mut opens: watch::Receiver<bool>, outside: Host, pace: Pace) {
    let Door { listener, mut moves, mut address, host, port } = door;
    let (mut listener, mut spare) = (Some(listener), spare_descriptor());
    loop {
        let accepted = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => pending().await,
            }
        };
        let (socket, client) = tokio::select! {
            biased;
            changed = opens.changed() => {
                if changed.is_err() {
                    return;
                }
                // A connection that is not accepted yet is refused, as by a kernel whose process has died.
                listener = None;
                if *opens.borrow_and_update() {
                    listener = reopen(address, &opens).await;
                }
                continue;
            }
            Some(moved) = moves.recv() => {
                if let (Ok(at), Ok(moved)) = (moved.local_addr(), TcpListener::from_std(moved)) {
                    (address, listener) = (at, Some(moved));
                }
                continue;
            }
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                Err(_) => {
                    refuse(listener.as_ref(), &mut spare).await;
                    continue;
                }
            }
        };
        let outside = outside.clone();
        let world = Arc::clone(&outside.world);
        pace.spawn(&world, async move {
            let door = socket.local_addr().unwrap_or(address).to_string();
            let connect = Connect::new(&outside, host, port).for_client(client.to_string(), door);
            if let Ok(stream) = connect.await {
                bridge(socket, stream).await;
            }
        });
    }
}

/// A file descriptor that is given up to refuse clients when there is no other.
fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Refuses the clients that wait to be taken up, where the process has no file descriptor for them, and waits for one. An accept that
/// fails leaves its client where it is: the next one would fail at once.
async fn refuse(listener: Option<&TcpListener>, spare: &mut Option<File>) {
    *spare = None;
    for _ in 0..BACKLOG {
        let next = |cx: &mut Context<'_>| Poll::Ready(listener.map(|listener| listener.poll_accept(cx)));
        if !matches!(poll_fn(next).await, Some(Poll::Ready(Ok(_)))) {
            break;
        }
    }
    *spare = spare_descriptor();
    tokio::time::sleep_until(Instant::now() + RETRY).await;
}

/// So many clients may have connected and not been taken up, as with a real server: beyond that the kernel lets them wait for seconds.
const BACKLOG: u32 = 1_024;

/// Listens at a real address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Listens again; none once the door is to be closed again.
async fn reopen(address: SocketAddr, opens: &watch::Receiver<bool>) -> Option<TcpListener> {
    while *opens.borrow() {
        if let Ok(listener) = listen(address) {
            return Some(listener);
        }
        tokio::time::sleep_until(Instant::now() + RETRY).await;
    }
    None
}

/// The program of the outside host: it connects to real addresses for hosts of the world.
pub(crate) async fn way_out(host: Host, pace: Pace) {
    let Ok(listener) = host.bind(WAY_OUT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        pace.spawn(&host.world, async move {
            // The host that asked sees its connection closed if this fails.
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
