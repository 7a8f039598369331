//! The scripts beside a real PostgreSQL 15, over sockets of the machine.
//!
//! Ignored unless asked for: `cargo test -p picklock-postgres real -- --ignored`. It needs PostgreSQL's server, found by
//! `PG_BIN` or under `/usr/lib/postgresql`, and says so where there is none. With `PICKLOCK_BLESS=1` the scripts are
//! written anew with what the real server has answered.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::talk::{Server, play};
use super::transcripts::{assert_same, scripts};

/// A real server in a directory of its own; both are gone at the end.
struct Real {
    child: Child,
    port: u16,
    clients: BTreeMap<char, TcpStream>,
    _dir: tempfile::TempDir,
}

/// The directory of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("PG_BIN") {
        return Some(given.into());
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    found.sort();
    found.into_iter().rev().find(|bin| bin.join("initdb").exists())
}

/// A program as the user `postgres` where this is root: the server refuses to run as root.
fn command(program: &Path) -> Command {
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

impl Real {
    fn start(bin: &Path) -> Real {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        // The server's user makes its directory in one that anybody may write to.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(dir.path(), mode).unwrap();
        let made = command(&bin.join("initdb"))
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "initdb makes a cluster");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = command(&bin.join("postgres"))
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let up = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(up, "the server listens within five seconds");
        // It refuses sessions for a moment more.
        std::thread::sleep(Duration::from_millis(500));
        Real { child, port, clients: BTreeMap::new(), _dir: dir }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        self.clients.clear();
        // SIGINT: fast shutdown, which removes its shared memory.
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

impl Server for Real {
    fn connect(&mut self, client: char) {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        self.clients.insert(client, stream);
    }

    fn send(&mut self, client: char, bytes: &[u8]) {
        (&self.clients[&client]).write_all(bytes).unwrap();
    }

    fn next(&mut self, client: char) -> Option<(u8, Vec<u8>)> {
        let mut stream = &self.clients[&client];
        let mut head = [0; 5];
        if let Err(error) = stream.read_exact(&mut head) {
            assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{client} waits for an answer");
            return None;
        }
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut content = vec![0; len - 4];
        stream.read_exact(&mut content).unwrap();
        Some((head[0], content))
    }

    fn close(&mut self, client: char) {
        self.clients.remove(&client);
    }

    fn pass(&mut self, span: Duration) {
        std::thread::sleep(span);
    }
}

/// Forgets the tables of a script, so that the next one begins with none.
const CLEAN: &str = "z: DROP SCHEMA public CASCADE\nz: CREATE SCHEMA public\nz!";

#[test]
#[ignore = "needs PostgreSQL"]
fn real_postgres_says_what_the_scripts_say() {
    let Some(bin) = programs() else {
        println!("skipped: no PostgreSQL is installed, and PG_BIN is not set");
        return;
    };
    let mut server = Real::start(&bin);
    for (file, expected) in scripts() {
        let found = play(&mut server, &expected);
        server.clients.clear();
        server.pass(Duration::from_millis(100));
        play(&mut server, CLEAN);
        if std::env::var_os("PICKLOCK_BLESS").is_some() {
            std::fs::write(&file, &found).unwrap();
        } else {
            assert_same(&file.display().to_string(), &expected, &found);
        }
    }
}
