//! `picklock serve` beside hostile clients: it ends in time whatever it does, and serves the others.
//!
//! The last test is a campaign for the night: it sends every topology much more than the tests of a change do.

#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "real processes take real time")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::served::{PATIENCE, Served, message};

/// The time that a server has to end, with some for a busy machine.
const END: Duration = Duration::from_millis(2_500);

/// Every kind of server, each with its number of ports.
const TOPOLOGIES: [(&str, u16); 10] = [
    ("single", 1),
    ("replicated", 1),
    ("sentinel", 4),
    ("redlock:3", 3),
    ("cluster:3", 3),
    ("postgres", 1),
    ("etcd:3", 3),
    ("zookeeper:3", 3),
    ("consul", 1),
    ("kubernetes:1", 1),
];

/// Scripts that take long, or for ever, within one call of a library.
const SCRIPTS: [&str; 8] = [
    "while true do end",
    "return string.find(string.rep('a', 50000), string.rep('a*', 200) .. 'b')",
    "return string.gsub(string.rep('a', 50000), string.rep('a-', 200) .. 'b', '')",
    "local s = string.rep('a', 30000000) while true do local t = s .. 'b' end",
    "local s = 'a' while true do s = s .. s end",
    "return string.rep('a', 2000000000)",
    "local t = {} for i = 1, 200000 do t[i] = i end while true do table.insert(t, 1, 0) end",
    "return loadstring('if x then ' .. string.rep('elseif x then ', 50000) .. ' end')",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most + 1);
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn connect(port: u16) -> std::io::Result<TcpStream> {
    let socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn eval(script: &str) -> Vec<u8> {
    format!("*3\r\n$4\r\nEVAL\r\n${}\r\n{script}\r\n$1\r\n0\r\n", script.len()).into_bytes()
}

fn startup() -> Vec<u8> {
    message(None, &[&3_u32.to_be_bytes()[2..], &[0, 0], b"user\0anybody\0database\0any\0\0"].concat())
}

fn query(sql: &str) -> Vec<u8> {
    message(Some(b'Q'), &[sql.as_bytes(), b"\0"].concat())
}

/// A session of PostgreSQL that is ready.
fn session(port: u16) -> TcpStream {
    let mut socket = connect(port).unwrap();
    socket.write_all(&startup()).unwrap();
    until_ready(&mut socket).expect("the server lets the session in");
    socket
}

/// Reads up to the end of an answer: `ReadyForQuery` comes last. An error if the session is over.
fn until_ready(socket: &mut TcpStream) -> std::io::Result<()> {
    loop {
        let mut head = [0; 5];
        socket.read_exact(&mut head)?;
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
        let mut body = vec![0; len];
        socket.read_exact(&mut body)?;
        if head[0] == b'Z' {
            return Ok(());
        }
    }
}

/// A join that takes much longer than a server has to end.
fn endless_sql() -> String {
    let table = |at| format!("(select 1 as a union all select 2 union all select 3) t{at}");
    format!("select count(*) from {}", (0..18).map(table).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_signal_waits_neither_for_a_library_function_nor_for_a_statement() {
    for script in SCRIPTS {
        let mut served = Served::start(&[]);
        let mut client = connect(served.port()).unwrap();
        client.write_all(&eval(script)).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let took = served.end();
        assert!(took < END, "{script}: {took:?}");
    }
    let mut served = Served::start(&["--topology", "postgres"]);
    let mut client = session(served.port());
    client.write_all(&query(&endless_sql())).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let took = served.end();
    assert!(took < END, "{took:?}");
}

/// The processor's time that a process has taken.
fn processor(id: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

#[test]
fn clients_beyond_the_limit_of_descriptors_are_refused_and_cost_nothing() {
    let mut served = Served::start_with_descriptors(64);
    let ping = |socket: &mut TcpStream| -> std::io::Result<bool> {
        socket.write_all(b"PING\r\n")?;
        let mut answer = [0; 7];
        socket.read_exact(&mut answer)?;
        Ok(&answer == b"+PONG\r\n")
    };
    let mut first = connect(served.port()).unwrap();
    assert!(ping(&mut first).unwrap());
    let mut others: Vec<TcpStream> = (0..200).map(|_| connect(served.port()).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(500));
    let refused = others.iter_mut().filter_map(|other| ping(other).err()).count();
    assert!(refused > 100, "{refused} of 200 are refused");
    let before = processor(served.id());
    std::thread::sleep(Duration::from_secs(1));
    let took = processor(served.id()) - before;
    assert!(took < Duration::from_millis(300), "it spins: {took:?} in a second");
    assert!(ping(&mut first).unwrap(), "who was there goes on");
    drop(others);
    let again = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        connect(served.port()).ok().filter(|socket| ping(&mut socket.try_clone().unwrap()).unwrap_or(false))
    });
    assert!(again.is_some(), "a new client is let in once there are descriptors");
    assert!(served.end() < END);
}

const WORDS: [&str; 44] = [
    "select",
    "1",
    "+",
    "(",
    ")",
    "from",
    "where",
    "a",
    "=",
    "'x'",
    "and",
    "not",
    "or",
    ",",
    "t",
    "insert into t values",
    "update t set a =",
    "delete from t",
    "order by",
    "limit",
    "union all select",
    "case when",
    "then",
    "else",
    "end",
    "in",
    "::",
    "int",
    "text",
    "jsonb",
    "||",
    "array[",
    "]",
    "coalesce(",
    "max(",
    "between",
    "like",
    "'%a%'",
    "with p as (select 1)",
    "group by",
    "for update",
    ";",
    "create table t (a int)",
    "'{\"a\": [1]}'",
];

/// A statement of many levels.
fn deep(random: &mut Random) -> String {
    let levels = 1 + random.below(20_000);
    let (open, close) = random.of(&[
        ("(", ")"),
        ("1+(", ")"),
        ("not (", ")"),
        ("abs(", ")"),
        ("lower(", ")"),
        ("(select ", ")"),
        ("case when true then ", " end"),
        ("array[", "]"),
        ("coalesce(null,", ")"),
        ("1 in (", ")"),
        ("exists (select ", ")"),
        ("1+", ""),
        ("not ", ""),
        ("", "::int"),
        ("", "+1"),
        ("", "||'a'"),
        ("", " and true"),
        ("", " is null"),
        ("", " union select 1"),
        ("1 from (select ", ") t"),
        ("", "[1]"),
    ]);
    format!("select {}1{}", open.repeat(levels), close.repeat(levels))
}

/// Sends statements, and goes on in a new session where one is over.
fn hostile_sql(
    served: &mut Served,
    random: &mut Random,
    count: usize,
    statement: impl Fn(&mut Random) -> String,
) {
    let mut socket = session(served.port());
    for _ in 0..count {
        let sql = statement(random);
        let answered = socket.write_all(&query(&sql)).and_then(|()| until_ready(&mut socket));
        if answered.is_err() {
            assert!(served.is_alive(), "it has ended after {sql:.200}");
            socket = session(served.port());
        }
    }
}

/// The beginnings of messages of all protocols.
const BEGINNINGS: [&[u8]; 16] = [
    b"*3\r\n$3\r\nSET\r\n$1\r\n",
    b"*1000000000\r\n",
    b"*2\r\n$4\r\nEVAL\r\n",
    b"PING ",
    b"\x00\x00\x00\x10\x00\x03\x00\x00user\x00p\x00\x00Q",
    b"\x00\x00\x00\x2c\x00\x00\x00\x00",
    b"GET /v1/kv/a HTTP/1.1\r\nHost: a\r\n",
    b"PUT /v1/session/create HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    b"GET /apis/coordination.k8s.io/v1/namespaces/default/leases/x HTTP/1.1\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    b"RCmb\x00\x00\x01\x00",
    b"\xff\xff\xff\xff",
    b"{\"a\":",
    b"",
];

/// A message that begins like one of a protocol, or a deep one, and continues with anything.
fn hostile_message(random: &mut Random) -> Vec<u8> {
    let levels = random.below(30_000);
    let body = match random.below(8) {
        0 => b"*1\r\n".repeat(levels),
        1 => b"[".repeat(levels),
        2 => b"{\"a\":".repeat(levels),
        3 => [
            b"PUT /v1/session/create HTTP/1.1\r\nContent-Length: ".as_slice(),
            (levels.to_string() + "\r\n\r\n").as_bytes(),
            &b"[".repeat(levels),
        ]
        .concat(),
        _ => random.bytes(200),
    };
    [random.of(&BEGINNINGS), &body[..]].concat()
}

/// A campaign for the night: 102,000 statements, 20,000 messages to each topology, 500 scripts, and a signal in the middle of each.
#[test]
#[ignore = "takes minutes: for the night"]
fn no_input_ends_a_server_or_keeps_it_from_ending() {
    let mut random = Random(11);
    let began = Instant::now();
    let mut served = Served::start(&["--topology", "postgres"]);
    hostile_sql(&mut served, &mut random, 100_000, |random| {
        (0..1 + random.below(12)).map(|_| random.of(&WORDS)).collect::<Vec<_>>().join(" ")
    });
    eprintln!("100000 random statements, {:?}", began.elapsed());
    hostile_sql(&mut served, &mut random, 2_000, deep);
    eprintln!("2000 deep statements, {:?}", began.elapsed());
    drop(session(served.port()));
    assert!(served.end() < END);
    for (nth, (topology, ports)) in TOPOLOGIES.into_iter().enumerate() {
        // Ports that no client is given: the ends of so many connections take up the others for a while.
        let first = 18_000 + 20 * nth as u16;
        let mut served = Served::start_on(first, &["--topology", topology]).expect("its ports are free");
        for nth in 0..20_000_u16 {
            let mut socket = connect(served.port() + nth % ports).expect(topology);
            let _ = socket.write_all(&hostile_message(&mut random));
            if nth % 16 == 0 {
                let _ = socket.set_read_timeout(Some(Duration::from_millis(1)));
                let _ = socket.read(&mut [0; 64]);
            }
        }
        assert!(served.is_alive(), "{topology}");
        // The signal comes while the last messages are worked on.
        let took = served.end();
        assert!(took < END, "{topology}: {took:?}");
        eprintln!("20000 messages to {topology}, {:?}", began.elapsed());
    }
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let mut served = Served::start(&[]);
        let mut sockets: Vec<TcpStream> = (0..10).map(|_| connect(served.port()).unwrap()).collect();
        for socket in &mut sockets {
            socket.write_all(&eval(SCRIPTS[random.below(SCRIPTS.len())])).unwrap();
        }
        std::thread::sleep(Duration::from_millis(random.below(1_500) as u64));
        assert!(served.is_alive());
        slowest = slowest.max(served.end());
    }
    eprintln!("500 scripts, the slowest end took {slowest:?}, {:?}", began.elapsed());
    assert!(slowest < END, "{slowest:?}");
}
