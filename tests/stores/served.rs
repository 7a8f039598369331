//! `picklock serve` as its clients see it: what a real server does with identifiers, ports, slow readers and strangers, and
//! a world that is steered while it runs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A served world, stopped at the end.
pub(super) struct Served {
    child: Child,
    input: ChildStdin,
    port: u16,
}

impl Served {
    /// A free port may be taken by another test before the server binds it, or the next one already is: then a server on
    /// other ports is started.
    pub(super) fn start(more: &[&str]) -> Served {
        (0..10).find_map(|_| Served::start_on(free_port(), more)).expect("a server that is ready")
    }

    pub(super) fn start_on(port: u16, more: &[&str]) -> Option<Served> {
        Served::start_as(Command::new(env!("CARGO_BIN_EXE_picklock")), port, more)
    }

    /// The same with at most so many file descriptors.
    #[cfg(target_os = "linux")]
    pub(super) fn start_with_descriptors(most: u32) -> Served {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit -n {most} && exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_picklock"),
        ]);
        Served::start_as(command, free_port(), &[]).expect("a server that is ready")
    }

    fn start_as(mut command: Command, port: u16, more: &[&str]) -> Option<Served> {
        let mut child = command
            .args(["serve", "--quiet", "--port", &port.to_string()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let input = child.stdin.take().unwrap();
        let is_ready = lines.any(|line| line.unwrap().starts_with("ready"));
        let served = Served { child, input, port };
        is_ready.then_some(served)
    }

    /// The port of its first server; the others have the next ones.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    fn client(&self) -> Client {
        Client::at(([127, 0, 0, 1], self.port).into()).unwrap()
    }

    pub(super) fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Sends SIGTERM. The time until it has ended.
    #[cfg(target_os = "linux")]
    #[expect(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        reason = "a real process ends in real time"
    )]
    pub(super) fn end(&mut self) -> Duration {
        let began = std::time::Instant::now();
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        began.elapsed()
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    #[cfg(target_os = "linux")]
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The memory that it has now, in megabytes.
    #[cfg(target_os = "linux")]
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody has, and perhaps the next ones are free as well.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Client {
    socket: TcpStream,
}

impl Client {
    fn at(address: SocketAddr) -> std::io::Result<Client> {
        let socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Client { socket })
    }

    fn send(&mut self, words: &[&[u8]]) {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        self.socket.write_all(&bytes).unwrap();
    }

    /// The next reply, as far as it has come.
    fn read(&mut self) -> String {
        let mut bytes = vec![0; 1 << 16];
        let len = self.socket.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    fn call(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.send(&words);
        self.read()
    }

    /// A field of INFO.
    fn info(&mut self, name: &str) -> String {
        let mut text = self.call("INFO everything");
        let (head, _) = text.split_once("\r\n").unwrap();
        let whole = head.len() + 4 + head[1..].parse::<usize>().unwrap();
        while text.len() < whole {
            text += &self.read();
        }
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    }
}

/// Waits until something is so.
pub(super) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..PATIENCE.as_millis() / 20 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} did not come about");
}

#[test]
fn histories_of_two_processes_that_parted_are_not_taken_for_one() {
    let (one, two) = (Served::start(&[]), Served::start(&[]));
    let (mut first, mut second) = (one.client(), two.client());
    for name in ["run_id", "master_replid"] {
        assert_ne!(first.info(name), second.info(name), "{name}");
    }
    first.call("SET common 1");
    second.call(&format!("REPLICAOF 127.0.0.1 {}", one.port));
    until("the copy", || second.call("EXISTS common") == ":1\r\n");
    let common = first.info("master_replid");
    assert_eq!(second.info("master_replid"), common);
    second.call("REPLICAOF NO ONE");
    assert_ne!(second.info("master_replid"), common);
    assert_eq!(second.info("master_replid2"), common);
    first.call("SET only-first 1");
    second.call("SET only-second 1");
    first.call(&format!("REPLICAOF 127.0.0.1 {}", two.port));
    until("the second copy", || first.call("EXISTS only-second").contains(":1"));
    assert!(first.call("EXISTS only-first").contains(":0"));
    assert_eq!(second.info("sync_full"), "1");
}

#[test]
fn a_replica_is_known_by_its_host_and_the_port_that_it_listens_at() {
    let served = Served::start(&[]);
    let mut replica = served.client();
    replica.call("REPLCONF listening-port 7999");
    replica.call("PSYNC ? -1");
    let info = served.client().info("slave0");
    assert!(info.starts_with("ip=127.0.0.1,port=7999,"), "{info}");
}

#[test]
fn the_port_of_a_dead_server_refuses_until_it_is_started_again() {
    let mut served = Served::start(&[]);
    let mut client = served.client();
    assert_eq!(client.call("PING"), "+PONG\r\n");
    served.say("kill node-1");
    until("the end of the connection", || client.read().is_empty());
    let address = SocketAddr::from(([127, 0, 0, 1], served.port));
    until("the refusal", || Client::at(address).is_err());
    served.say("start node-1");
    until("the start", || Client::at(address).is_ok());
    assert_eq!(served.client().call("PING"), "+PONG\r\n");
}

#[test]
fn a_pause_lasts_until_it_is_healed() {
    let mut served = Served::start(&[]);
    let mut client = served.client();
    client.call("PING");
    served.say("pause node-1");
    until("the pause", || {
        client.socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        client.send(&[b"PING"]);
        client.socket.read(&mut [0; 7]).is_err()
    });
    served.say("heal");
    client.socket.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(client.read(), "+PONG\r\n");
}

#[test]
fn a_port_for_control_answers_each_line() {
    let control = free_port();
    let served = Served::start(&["--control", &control.to_string()]);
    let socket = TcpStream::connect(("127.0.0.1", control)).unwrap();
    let mut answers = BufReader::new(socket.try_clone().unwrap()).lines();
    let mut say = |line: &str| {
        writeln!(&socket, "{line}").unwrap();
        answers.next().unwrap().unwrap()
    };
    assert!(say("kil node-1").contains("did you mean `kill`"));
    assert!(say("cut node-1 node-2 for 5s").contains("there are node-1, clients"));
    assert_eq!(say("cut node-1 clients for 100ms"), "ok");
    assert_eq!(say("heal"), "ok");
    assert_eq!(served.client().call("PING"), "+PONG\r\n");
}

#[test]
fn a_line_for_control_that_is_too_long_is_answered_and_passed_over() {
    let control = free_port();
    let _served = Served::start(&["--control", &control.to_string()]);
    let mut socket = TcpStream::connect(("127.0.0.1", control)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(&[b'x'; 100_000]).unwrap();
    socket.write_all(b"\nhosts\n").unwrap();
    let mut answers = BufReader::new(socket).lines().map(Result::unwrap);
    assert_eq!(answers.next().unwrap(), "error: a line has at most 1000 bytes");
    assert_eq!(answers.next().unwrap(), "node-1");
}

const ENDLESS: &[&[u8]] = &[b"EVAL", b"while true do end", b"0"];

#[test]
fn others_get_busy_for_a_script_that_does_not_end_after_the_threshold_and_may_kill_it() {
    let served = Served::start(&[]);
    let (mut one, mut other) = (served.client(), served.client());
    assert_eq!(other.call("CONFIG SET busy-reply-threshold 200"), "+OK\r\n");
    one.send(ENDLESS);
    std::thread::sleep(Duration::from_millis(50));
    let answer = other.call("PING");
    assert!(answer.starts_with("-BUSY Redis is busy running a script."), "{answer}");
    assert_eq!(other.call("SCRIPT KILL"), "+OK\r\n");
    assert!(one.read().contains("Script killed by user with SCRIPT KILL"));
    assert_eq!(other.call("PING"), "+PONG\r\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_does_not_wait_for_a_script() {
    let mut served = Served::start(&[]);
    let mut client = served.client();
    assert_eq!(client.call("CONFIG SET busy-reply-threshold 3600000"), "+OK\r\n");
    client.send(ENDLESS);
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").arg(served.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    until("the server has ended", || served.child.try_wait().unwrap().is_some());
}

#[test]
fn the_link_of_a_replica_has_an_address() {
    let served = Served::start(&["--topology", "replicated"]);
    let mut client = served.client();
    let mut line = None;
    until("the replica is linked", || {
        let list = client.call("CLIENT LIST TYPE replica");
        line = list.lines().find(|line| line.contains("laddr=")).map(str::to_owned);
        line.is_some()
    });
    assert!(line.unwrap().contains(&format!("laddr=127.0.0.1:{} ", served.port)));
}

#[test]
fn a_listener_that_does_not_read_is_closed() {
    let served = Served::start(&[]);
    let mut listener = served.client();
    listener.call("SUBSCRIBE c");
    let mut client = served.client();
    let message = vec![b'x'; 1 << 20];
    // 32 MiB wait at the server at most, and what the system takes besides.
    let sent = (0..100).take_while(|_| {
        client.send(&[b"PUBLISH", b"c", &message]);
        client.read() == ":1\r\n"
    });
    let sent = sent.count();
    assert!((32..60).contains(&sent), "{sent}");
}

#[test]
fn clients_of_other_machines_are_refused_while_there_is_no_password() {
    // No packet is sent: this only asks for the address that would be used.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let Ok(()) = socket.connect("192.0.2.1:9") else { return };
    let IpAddr::V4(own) = socket.local_addr().unwrap().ip() else { return };
    if own.is_loopback() || own.is_unspecified() {
        return;
    }
    let served = Served::start(&["--bind", "0.0.0.0", "--expose"]);
    let mut stranger = Client::at((own, served.port).into()).unwrap();
    assert!(stranger.read().starts_with("-DENIED Redis is running in protected mode"));
    let mut local = served.client();
    assert_eq!(local.info("rejected_connections"), "1");
    local.call("CONFIG SET requirepass secret");
    let mut stranger = Client::at((own, served.port).into()).unwrap();
    assert!(stranger.call("PING").starts_with("-NOAUTH"));
    assert_eq!(stranger.call("AUTH secret"), "+OK\r\n");
    let list = stranger.call("CLIENT LIST");
    assert!(list.contains(&format!("laddr={own}:{} ", served.port)), "{list}");
    assert!(list.contains(" qbuf=26 qbuf-free=20448 "), "{list}");
}

#[test]
fn a_server_moves_to_a_port_that_is_free() {
    let (served, taken) = (Served::start(&[]), TcpListener::bind("127.0.0.1:0").unwrap());
    let mut client = served.client();
    let taken = taken.local_addr().unwrap().port();
    let reply = client.call(&format!("CONFIG SET port {taken}"));
    let why = "(possibly related to argument 'port') - Unable to listen on this port. Check server logs.";
    assert_eq!(reply, format!("-ERR CONFIG SET failed {why}\r\n"));
    let free = free_port();
    assert_eq!(client.call(&format!("CONFIG SET port {free}")), "+OK\r\n");
    assert_eq!(Client::at(([127, 0, 0, 1], free).into()).unwrap().info("tcp_port"), free.to_string());
    until("the end of the old port", || Client::at(([127, 0, 0, 1], served.port).into()).is_err());
    assert_eq!(client.call("PING"), "+PONG\r\n");
}

#[test]
fn a_command_that_changes_nothing_does_not_count_as_a_change() {
    let served = Served::start(&[]);
    let mut client = served.client();
    for (line, changes) in [("SET a 1", "1"), ("DEL d", "1"), ("SET d 1", "2"), ("DEL d", "3")] {
        client.call(line);
        assert_eq!(client.info("rdb_changes_since_last_save"), changes, "{line}");
    }
}

#[test]
fn a_password_is_that_of_all_servers() {
    let served = Served::start(&["--topology", "replicated", "--password", "secret"]);
    let mut client = served.client();
    assert!(client.call("PING").starts_with("-NOAUTH"));
    client.call("AUTH secret");
    until("the link", || client.info("connected_slaves") == "1");
}

#[test]
#[cfg(target_os = "linux")]
fn a_large_value_takes_its_size_and_nothing_once_it_is_gone() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let before = served.memory();
    client.send(&[b"SET", b"k", &vec![b'x'; 100_000_000]]);
    assert_eq!(client.read(), "+OK\r\n");
    until("a value of 100 MB in 150", || served.memory() < before + 140);
    assert_eq!(client.call("DEL k"), ":1\r\n");
    until("the end of it", || served.memory() < before + 20);
}

#[test]
#[cfg(target_os = "linux")]
fn replies_that_are_not_read_take_their_size() {
    let served = Served::start(&[]);
    let mut client = served.client();
    client.send(&[b"SET", b"k", &vec![b'x'; 1 << 20]]);
    assert_eq!(client.read(), "+OK\r\n");
    assert_eq!(client.call("GET nothing"), "$-1\r\n");
    let mut lazy = served.client();
    for _ in 0..300 {
        lazy.send(&[b"GET", b"k"]);
    }
    until("the last reply", || client.info("cmdstat_get").contains("calls=301,"));
    assert!(served.memory() < 360, "{}", served.memory());
}

/// A message of PostgreSQL's protocol, with its type unless it is the first of a connection.
pub(super) fn message(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = kind.into_iter().collect();
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn a_postgres_is_served_to_whoever_speaks_its_protocol() {
    let served = Served::start(&["--topology", "postgres"]);
    let mut socket = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let startup = [&3_u32.to_be_bytes()[2..], &[0, 0], b"user\0anybody\0database\0any\0\0"].concat();
    socket.write_all(&message(None, &startup)).unwrap();
    socket
        .write_all(&message(
            Some(b'Q'),
            b"CREATE TABLE t (k text PRIMARY KEY); INSERT INTO t (k) VALUES ('a')\0",
        ))
        .unwrap();
    let mut received = Vec::new();
    let tag = b"INSERT 0 1\0";
    while !received.windows(tag.len()).any(|window| window == tag) {
        let mut bytes = [0; 1024];
        let len = socket.read(&mut bytes).unwrap();
        assert!(len > 0, "the server closed the connection: {:?}", String::from_utf8_lossy(&received));
        received.extend_from_slice(&bytes[..len]);
    }
}

/// The answer to a request over HTTP, whole.
fn answer(port: u16, request: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut received = String::new();
    while !received.contains("\r\n\r\n") || received.ends_with("\r\n\r\n") {
        let mut bytes = [0; 4096];
        let len = socket.read(&mut bytes).unwrap();
        assert!(len > 0, "the server closed the connection: {received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..len]));
    }
    received
}

#[test]
fn a_consul_and_a_control_plane_are_served_over_http() {
    let consul = Served::start(&["--topology", "consul"]);
    let created =
        answer(consul.port, "PUT /v1/session/create HTTP/1.1\r\nHost: consul\r\nContent-Length: 0\r\n\r\n");
    assert!(created.starts_with("HTTP/1.1 200") && created.contains("\"ID\""), "{created}");
    let kubernetes = Served::start(&["--topology", "kubernetes:1"]);
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lock";
    let missing = answer(kubernetes.port, &format!("GET {path} HTTP/1.1\r\nHost: kubernetes\r\n\r\n"));
    assert!(missing.starts_with("HTTP/1.1 404") && missing.contains("NotFound"), "{missing}");
}

#[test]
fn a_password_is_refused_for_a_postgres() {
    let output = Command::new(env!("CARGO_BIN_EXE_picklock"))
        .args(["serve", "--topology", "postgres", "--password", "secret"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--password is for redis"));
}
