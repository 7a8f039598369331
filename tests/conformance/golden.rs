//! Hand-written edge cases: scripts that read like a session, with the replies that a real redis-server 7.0 gave.
//!
//! Each file in `golden/` is a list of commands, one a line, `N> ` in front naming the connection; below each stand the
//! frames that came back. The replies are checked on both servers, so a file also documents the real one.

use std::path::Path;
use std::time::Duration;

use super::driver::Driver;
use super::wire::Conn;

/// Checks every script on both servers; `UPDATE_GOLDEN=1` writes the real server's replies into the files.
pub(crate) fn check(driver: &Driver) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/golden");
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let [real, ours] = driver.addresses();
    for file in files {
        let script = std::fs::read_to_string(&file).unwrap();
        let played = play(&script, real);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &played).unwrap();
        } else {
            assert_eq!(played, script, "redis-server, {}", file.display());
        }
        assert_eq!(play(&script, ours), played, "the node, {}", file.display());
    }
}

/// Plays the commands of a script and writes the script with the replies that came.
fn play(script: &str, address: std::net::SocketAddr) -> String {
    let mut conns: Vec<Conn> = (0..3).map(|_| Conn::open(address).unwrap()).collect();
    conns[0].send_raw(b"FLUSHALL\r\nSCRIPT FLUSH\r\n");
    while conns[0].next(Duration::from_millis(20)).is_some() {}
    let mut out = String::new();
    for line in script.lines() {
        if line.is_empty() || line.starts_with('#') {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let Some((number, command)) = line.split_once("> ") else { continue };
        let Ok(conn) = number.parse::<usize>() else { continue };
        out.push_str(line);
        out.push('\n');
        match command.strip_prefix("sleep ") {
            Some(millis) => std::thread::sleep(Duration::from_millis(millis.parse().unwrap())),
            // An inline command, as one would type it.
            None => conns[conn].send_raw(format!("{command}\r\n").as_bytes()),
        }
        for (at, conn) in conns.iter_mut().enumerate() {
            while let Some(frame) = conn.next(Duration::from_millis(8)) {
                out.push_str(&format!("   {at}: {frame:?}\n"));
            }
        }
    }
    out
}
