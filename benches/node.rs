//! The node beside redis-server on the same machine: commands per second of the same pipelined load over the same kind of
//! socket, taken in turns, so that whatever else the machine does meanwhile hits both alike.
//!
//! Three servers: redis-server; the node alone, behind a loop that does nothing but read, execute and write; and the node
//! as `picklock serve` runs it, in a world with a trace. The client sends what was written beforehand and counts bytes, so
//! that it costs as little as possible. Beside the rate stands the time that the server's thread was on a processor for each
//! command, which is the steadier measure on a busy machine.
//!
//! Only with `--bench`, as `cargo bench` gives it, is anything measured; otherwise each load runs once.

mod turns;

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use picklock_model::time::WallTime;
use picklock_redis::protocol::resp::{Requests, request};
use picklock_redis::server::node::Node;
use picklock_redis::server::store::Store;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use self::turns::{median, time};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many times the servers take turns.
const ROUNDS: usize = 9;
/// How long a turn lasts, at least.
const TURN: Duration = Duration::from_millis(300);
/// Connections of the client.
const CONNECTIONS: usize = 4;
/// Repetitions of a load's commands in one write.
const PIPELINE: usize = 32;

/// A load: commands, and the replies to them, which are always the same. `{}` is the number of the connection: batches of
/// several may mix.
struct Load {
    name: &'static str,
    commands: &'static [&'static [&'static str]],
    replies: &'static str,
}

const COMPARE_AND_DELETE: &str =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

const LOADS: [Load; 4] = [
    Load { name: "PING", commands: &[&["PING"]], replies: "+PONG\r\n" },
    Load { name: "SET", commands: &[&["SET", "key-{}", "some-value"]], replies: "+OK\r\n" },
    Load { name: "GET", commands: &[&["GET", "key-{}"]], replies: "$10\r\nsome-value\r\n" },
    Load {
        name: "lock, unlock",
        commands: &[
            &["SET", "lock-{}", "owner", "NX", "PX", "30000"],
            &["EVAL", COMPARE_AND_DELETE, "1", "lock-{}", "owner"],
        ],
        replies: "+OK\r\n:1\r\n",
    },
];

fn main() {
    let measured = std::env::args().any(|arg| arg == "--bench");
    let mut servers = vec![Server::alone(), Server::served()];
    match Server::redis() {
        Some(redis) => servers.insert(0, redis),
        None => println!("redis-server is not installed: the node is measured with nothing beside it"),
    }
    for load in &LOADS {
        report(load, &mut servers, measured);
    }
}

fn report(load: &Load, servers: &mut [Server], measured: bool) {
    // The first lap brings the connections up and leaves the key behind that GET asks for.
    for server in servers.iter_mut() {
        server.client.run(load, Duration::ZERO);
    }
    if !measured {
        return;
    }
    let rounds: Vec<Vec<Turn>> = (0..ROUNDS)
        .map(|_| servers.iter_mut().map(|server| server.client.run(load, TURN)).collect())
        .collect();
    println!("{}", load.name);
    for (nth, server) in servers.iter().enumerate() {
        let over = |of: &dyn Fn(&[Turn]) -> f64| median(rounds.iter().map(|round| of(round)).collect());
        println!(
            "  {:<14}{:>9.0} commands/s, {:>5.2} times   {:>6.2} us of processor a command, {:>5.2} times",
            server.name,
            over(&|round| round[nth].rate),
            over(&|round| round[nth].rate / round[0].rate),
            over(&|round| round[nth].processor_us),
            over(&|round| round[nth].processor_us / round[0].processor_us),
        );
    }
}

/// The result of a turn.
#[derive(Clone, Copy)]
struct Turn {
    /// Commands per second.
    rate: f64,
    /// How long the server's thread was on a processor for each of them, in microseconds; not a number where the machine does not
    /// report it.
    processor_us: f64,
}

/// A server and the client that keeps it busy.
struct Server {
    name: &'static str,
    client: Client,
    /// Its process, if it has one of its own.
    process: Option<Child>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended by itself; then there is nothing to stop.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Server {
    fn redis() -> Option<Server> {
        let mut command = Command::new("redis-server");
        command.args(["--save", "", "--appendonly", "no"]);
        Server::process("redis-server", &mut command)
    }

    fn served() -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_picklock"));
        command.args(["serve", "--quiet"]);
        Server::process("picklock serve", &mut command).expect("the program under test can be started")
    }

    fn process(name: &'static str, command: &mut Command) -> Option<Server> {
        let address = free_address();
        command.args(["--port", &address.port().to_string()]);
        let process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let clock = PathBuf::from(format!("/proc/{}/schedstat", process.id()));
        Some(Server { name, client: Client::of(address, clock), process: Some(process) })
    }

    /// The node in a thread of this process, with nothing around it.
    #[expect(clippy::disallowed_methods, reason = "it runs beside the client, as the others do")]
    fn alone() -> Server {
        let address = free_address();
        let (sender, thread) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let this = std::fs::canonicalize("/proc/thread-self").unwrap_or_default();
            sender.send(this.join("schedstat")).expect("it is waited for");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            runtime
                .expect("a runtime can be made")
                .block_on(tokio::task::LocalSet::new().run_until(serve(address)));
        });
        let clock = thread.recv().expect("the thread says which one it is");
        Server { name: "node alone", client: Client::of(address, clock), process: None }
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    listener.local_addr().expect("a bound socket has an address")
}

/// Serves a node over sockets of the machine, without a world.
async fn serve(address: SocketAddr) {
    let node = Rc::new(RefCell::new(Node::new(Store::default(), None)));
    let listener = tokio::net::TcpListener::bind(address).await.expect("the port was free just now");
    loop {
        let (mut stream, peer) = listener.accept().await.expect("the listener is not closed");
        let node = Rc::clone(&node);
        tokio::task::spawn_local(async move {
            let session = node.borrow_mut().connect(&peer.to_string());
            let (mut requests, mut reply) = (Requests::default(), Vec::new());
            while stream.read_buf(requests.room()).await.is_ok_and(|len| len > 0) {
                // Like Redis, it reads the clock once for all that has come.
                let now = now();
                while let Ok(Some(request)) = requests.take() {
                    let _ = node.borrow_mut().execute(now, session, &request.args, &mut reply);
                }
                if stream.write_all(&reply).await.is_err() {
                    return;
                }
                reply.clear();
            }
        });
    }
}

#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this node lives in the machine's time"
)]
fn now() -> WallTime {
    let since =
        std::time::SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock of the machine is set");
    WallTime(since.as_nanos().try_into().expect("the year 2554 is far"))
}

/// The client: some connections, each of which has one batch under way at all times.
struct Client {
    connections: Vec<TcpStream>,
    /// The file in which the machine reports how long the server's thread was on a processor.
    clock: PathBuf,
}

impl Client {
    fn of(address: SocketAddr, clock: PathBuf) -> Client {
        let connect = || {
            (0..400).find_map(|_| {
                std::thread::sleep(Duration::from_millis(5));
                TcpStream::connect(address).ok()
            })
        };
        let connection = |_| {
            let stream = connect().expect("a server listens within two seconds");
            stream.set_nodelay(true).expect("a connection takes the option");
            stream
        };
        Client { connections: (0..CONNECTIONS).map(connection).collect(), clock }
    }

    /// How long the server's thread was on a processor so far, in nanoseconds.
    fn processor_ns(&self) -> f64 {
        let text = std::fs::read_to_string(&self.clock).unwrap_or_default();
        text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
    }

    /// A turn of at least so long, and at least one lap.
    fn run(&mut self, load: &Load, least: Duration) -> Turn {
        let before = self.processor_ns();
        let batches: Vec<Vec<u8>> = (0..CONNECTIONS).map(|connection| load.batch(connection)).collect();
        let expected = load.replies.repeat(PIPELINE);
        let mut replies = vec![0; expected.len()];
        let mut received = 0;
        let mut receive = |stream: &mut TcpStream| {
            stream.read_exact(&mut replies).expect("the server answers");
            assert_eq!(String::from_utf8_lossy(&replies), expected, "{}", load.name);
            received += 1;
        };
        let send = |(stream, batch): (&mut TcpStream, &Vec<u8>)| {
            stream.write_all(batch).expect("the server listens");
        };
        let spent = time(|elapsed| {
            self.connections.iter_mut().zip(&batches).for_each(send);
            while elapsed() < least {
                for (stream, batch) in self.connections.iter_mut().zip(&batches) {
                    receive(stream);
                    send((stream, batch));
                }
            }
            self.connections.iter_mut().for_each(receive);
        });
        let commands = (received * PIPELINE * load.commands.len()) as f64;
        let processor_us = (self.processor_ns() - before) / commands / 1e3;
        Turn { rate: commands / spent.as_secs_f64(), processor_us }
    }
}

impl Load {
    /// The bytes that a connection sends in one write.
    fn batch(&self, connection: usize) -> Vec<u8> {
        let mut batch = Vec::new();
        for command in self.commands {
            let words: Vec<String> =
                command.iter().map(|word| word.replace("{}", &connection.to_string())).collect();
            request(&mut batch, &words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
        }
        batch.repeat(PIPELINE)
    }
}
