//! The two servers that are compared: a real redis-server and the served node, each on a port of its own.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use super::wire::Conn;

/// A server process; it ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    _dir: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens at now, and that no other server of this process was given: between the look and the server's
/// own bind another test may look as well.
fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        if GIVEN.lock().expect("nothing panics while it holds this lock").insert(port) {
            return port;
        }
    }
}

fn start(command: &mut Command, port: u16, dir: tempfile::TempDir) -> Option<Server> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let server = Server { child, address, _dir: dir };
    for _ in 0..200 {
        if Conn::open(address).is_ok() {
            return Some(server);
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("{command:?} does not listen at {address}");
}

/// A real server without persistence; `None` if the program cannot be started.
pub(crate) fn real(program: impl AsRef<OsStr>) -> Option<Server> {
    let (port, dir) = (free_port(), tempfile::tempdir().expect("a temporary directory can be made"));
    let mut command = Command::new(program);
    command.args(["--port", &port.to_string(), "--save", "", "--appendonly", "no", "--dir"]).arg(dir.path());
    command.args(["--enable-debug-command", "yes"]);
    start(&mut command, port, dir)
}

/// The served node, as a version of Redis.
pub(crate) fn ours(version: &str) -> Server {
    let (port, dir) = (free_port(), tempfile::tempdir().expect("a temporary directory can be made"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_picklock"));
    command
        .args(["serve", "--port", &port.to_string(), "--version", version, "--quiet"])
        .current_dir(dir.path());
    start(&mut command, port, dir).expect("the program under test can be started")
}
