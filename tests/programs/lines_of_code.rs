//! A story names the lines of the program between which a fault hit, and an exploration those of each group of violating sites.

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::python3;

/// A lock that releases with `GET`, a comparison and `DEL`, on a socket of its own.
const LOCK: &str = r#"import os, socket, sys

host, port = os.environ["PICKLOCK_STORES"][len("redis://"):].split(":")
ttl = os.environ["PICKLOCK_TTL_MS"]
store = socket.create_connection((host, int(port)))
replies = store.makefile("rb")
me = None

def ask(*words):
    parts = [b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words]
    store.sendall(b"".join(parts))
    line = replies.readline()
    if line[:1] != b"$" or line == b"$-1\r\n":
        return line.strip().decode()
    return replies.readline().strip().decode()

def acquire(key):
    global me
    me = os.urandom(8).hex()
    return ask("SET", key, me, "NX", "PX", ttl) == "+OK"

def release(key):
    if ask("GET", key) == me:
        ask("DEL", key)

for request in sys.stdin:
    word, key = request.split()[:2]
    if word == "acquire":
        print("granted" if acquire(key) else "refused", flush=True)
    else:
        release(key)
        print("released", flush=True)
"#;

#[test]
fn a_story_names_the_lines_between_which_a_pause_hit() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    std::fs::write(here.path().join("lock.py"), LOCK).unwrap();
    let command = format!("{} lock.py", python3());
    let args = ["run", "--program", &command, "--scenario", "late-release", "--seeds", "30", "--no-confirm"];
    let ended = run_in(here.path(), &args);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let between = "in lock.py:23 `if ask(\"GET\", key) == me:`, before lock.py:24 `ask(\"DEL\", key)`";
    assert!(said.contains(between), "{}", ended.stdout);
    let at = "at lock.py:11 `store.sendall(b\"\".join(parts))` from lock.py:24 `ask(\"DEL\", key)`";
    assert!(said.contains(at), "{}", ended.stdout);
}

#[test]
fn an_exploration_names_the_line_of_each_group_of_violating_sites() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    // A fault also hits the store before it listens.
    let patient = "store = None\nwhile store is None:\n    try:\n        store = socket.create_connection((host, int(port)))\n    \
                   except OSError:\n        pass\n";
    let lock = LOCK.replace("store = socket.create_connection((host, int(port)))\n", patient);
    std::fs::write(here.path().join("lock.py"), lock).unwrap();
    let command = format!("{} lock.py", python3());
    let args =
        ["explore", "--program", &command, "--fault", "pause", "--set", "clients=2", "--set", "sections=1"];
    let ended = run_in(here.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let groups = report["explored"][0]["failures"].as_array().unwrap();
    let of_clients = groups.iter().filter(|group| group["way"].as_str().unwrap().contains("of a client"));
    let places: Vec<&str> = of_clients.map(|group| group["code"]["words"].as_str().unwrap()).collect();
    let between = "between lock.py:28 `if ask(\"GET\", key) == me:` and lock.py:29 `ask(\"DEL\", key)`";
    assert!(places.iter().any(|place| place.starts_with(between)), "{places:#?}");
    let others = groups.iter().filter(|group| !group["way"].as_str().unwrap().contains("of a client"));
    assert!(others.into_iter().all(|group| group["code"].is_null()), "{groups:#?}");
}

/// A client whose thread sends what other threads ask for.
const CLIENT: &str = r#"import queue, socket, threading

asked, answered = queue.Queue(), queue.Queue()

def serve(host, port):
    store = socket.create_connection((host, port))
    while True:
        store.sendall(asked.get())
        answered.put(store.recv(1000))

def start(host, port):
    threading.Thread(target=serve, args=(host, port), daemon=True).start()

def ask(request):
    asked.put(request)
    return answered.get()
"#;

/// A lock on it, whose own thread makes no call between its input and its output.
const ON_CLIENT: &str = r#"import os, sys

sys.path.insert(0, os.environ["CLIENT"])
import client
host, port = os.environ["PICKLOCK_STORES"][len("redis://"):].split(":")
client.start(host, int(port))
for request in sys.stdin:
    word, key = request.split()[:2]
    if word == "acquire":
        print("granted" if client.ask(f"SET {key} x NX PX 500\r\n".encode())[:1] == b"+" else "refused", flush=True)
    else:
        client.ask(f"DEL {key}\r\n".encode())
        print("released", flush=True)
"#;

#[test]
fn what_a_thread_of_a_library_sends_is_not_said_of_the_line_at_which_the_lock_waits() {
    if !can_run(&["python3"]) {
        return;
    }
    let here = directory();
    let packages = here.path().join("site-packages");
    std::fs::create_dir(&packages).unwrap();
    std::fs::write(packages.join("client.py"), CLIENT).unwrap();
    std::fs::write(here.path().join("lock.py"), ON_CLIENT).unwrap();
    let program = format!("program:env CLIENT={} {} lock.py", packages.display(), python3());
    let ended = run_in(here.path(), &["replay", &program, "calm", "1"]);
    assert!(ended.stdout.contains("creates the record of `lock:1`"), "{}{}", ended.stdout, ended.stderr);
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!said.contains("at lock.py:7"), "{}", ended.stdout);
}
