//! A served PostgreSQL with its standby: which of the two takes writes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use super::served::{PATIENCE, Served, until};

/// What a server on this port answers to a statement, errors included; nothing if it takes no connection.
fn asked(port: u16, statement: &str) -> String {
    within(PATIENCE, port, statement)
}

/// What it answers while it says something at least so often.
fn within(patience: Duration, port: u16, statement: &str) -> String {
    let Ok(mut socket) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    socket.set_read_timeout(Some(patience)).unwrap();
    let opening = [&196_608_u32.to_be_bytes()[..], b"user\0postgres\0\0"].concat();
    let ending: &[u8] = b"X\0\0\0\x04";
    let length = |bytes: usize| (bytes as u32 + 4).to_be_bytes();
    let query = [b"Q", &length(statement.len() + 1)[..], statement.as_bytes(), b"\0", ending].concat();
    let said = [&length(opening.len())[..], &opening, &query].concat();
    let mut answer = Vec::new();
    // A server that is going down resets the connection.
    let _ = socket.write_all(&said).and_then(|()| socket.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_standby_takes_writes_once_its_primary_is_gone_and_not_before() {
    let mut served = Served::start(&["--topology", "postgres-standby", "--down-after", "500ms"]);
    let (primary, standby) = (served.port(), served.port() + 1);
    let made = asked(primary, "CREATE TABLE t (a int); INSERT INTO t VALUES (7)");
    assert!(made.contains("INSERT 0 1"), "{made}");
    until("the row on the standby", || asked(standby, "SELECT a FROM t").contains('7'));
    // Longer than the controller waits for a primary that is silent.
    std::thread::sleep(2 * Duration::from_millis(500));
    let refused = asked(standby, "INSERT INTO t VALUES (8)");
    assert!(refused.contains("25006"), "{refused}");
    served.say("kill node-1");
    until("the promotion", || asked(standby, "INSERT INTO t VALUES (9)").contains("INSERT 0 1"));
}

#[test]
fn a_parameter_of_the_servers_is_set_or_explained() {
    let refused = |set: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_picklock"));
        let output = command.args(["serve", "--set", set]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{set}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("persistence").contains("write it as NAME=VALUE"));
    assert!(refused("persistence=often").contains("`often` is not one of none, rdb, everysec, always"));
    assert!(refused("fenced=yes").contains("there are replicas, persistence"));
}

#[test]
fn a_synchronous_commit_waits_for_the_standby() {
    let mut served = Served::start(&["--topology", "postgres-standby", "--set", "synchronous_commit=on"]);
    let primary = served.port();
    until("a commit", || asked(primary, "CREATE TABLE IF NOT EXISTS t (a int)").contains("CREATE TABLE"));
    served.say("kill standby-1");
    until("the refusal", || asked(primary + 1, "SELECT 1").is_empty());
    let waits = within(Duration::from_millis(300), primary, "INSERT INTO t VALUES (1)");
    assert!(!waits.contains("INSERT 0 1"), "{waits}");
}
