//! Hand-written edge cases: scripts that read like a session, with the replies that a real redis-server gave.
//!
//! Each file in `golden/` is a list of commands, one a line, `N> ` in front naming the connection; below each stand the
//! frames that came back; `{id N}` stands for the number of that connection. The replies are checked on both servers, so a file also documents the real one. What only later
//! versions have lies in a folder of its own: `REDIS_SERVER_7_2` names a real one, without which the replies in the files
//! stand for it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::wire::Conn;

/// How long a server that has to answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks every script of a folder on the node, and on a real server if there is one; `UPDATE_GOLDEN=1` writes the real
/// server's replies into the files.
pub(crate) fn check(folder: &str, real: Option<SocketAddr>, ours: SocketAddr) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/conformance").join(folder);
    let files = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    for file in files {
        let mut script = std::fs::read_to_string(&file).unwrap();
        if let Some(real) = real {
            let played = play(&script, real);
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&file, &played).unwrap();
                script = played;
            } else {
                assert_eq!(played, script, "redis-server, {}", file.display());
            }
        }
        assert_eq!(play(&script, ours), script, "the node, {}", file.display());
    }
}

/// Plays the commands of a script and writes the script with the replies that came.
fn play(script: &str, address: SocketAddr) -> String {
    let mut conns: Vec<Conn> = (0..3).map(|_| Conn::open(address).unwrap()).collect();
    let mut bystander = Conn::open(address).unwrap();
    conns[0].send_raw(b"FLUSHALL\r\nSCRIPT FLUSH\r\n");
    for _ in 0..2 {
        conns[0].next(PATIENCE).unwrap();
    }
    let ids: Vec<String> = conns.iter_mut().map(id_of).collect();
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
            None => conns[conn].send_raw(format!("{}\r\n", with_ids(command, &ids)).as_bytes()),
        }
        // The command is done when another connection is answered, unless that one has to wait as well.
        bystander.send_raw(b"PING\r\n");
        bystander.next(Duration::from_millis(500));
        for (at, conn) in conns.iter_mut().enumerate() {
            while let Some(frame) = conn.next(Duration::from_millis(8)) {
                let frame = format!("{frame:?}");
                let shown = if script.contains("{id ") { without_ids(&frame, &ids) } else { frame };
                out.push_str(&format!("   {at}: {shown}\n"));
            }
        }
    }
    out
}

/// The number by which a server knows a connection.
fn id_of(conn: &mut Conn) -> String {
    conn.send_raw(b"CLIENT ID\r\n");
    format!("{:?}", conn.next(PATIENCE).unwrap()).trim_start_matches(':').to_owned()
}

/// Puts the numbers of connections where a script says `{id 0}`.
fn with_ids(command: &str, ids: &[String]) -> String {
    let number = |text: String, (at, id): (usize, &String)| text.replace(&format!("{{id {at}}}"), id);
    ids.iter().enumerate().fold(command.to_owned(), number)
}

/// Puts `{id 0}` where a frame has the number of a connection: scripts that name them have no other numbers as large.
fn without_ids(frame: &str, ids: &[String]) -> String {
    let named = |text: String, (at, id): (usize, &String)| {
        [",", "]", "}", ""].iter().fold(text, |text, end| {
            let (number, name) = (format!(":{id}{end}"), format!(":{{id {at}}}{end}"));
            if end.is_empty() && text != number { text } else { text.replace(&number, &name) }
        })
    };
    ids.iter().enumerate().fold(frame.to_owned(), named)
}
