//! A store kind that no other file names can be used by a program, in each of its topologies.

use picklock_programs::Program;
use picklock_sim::store::StoreKind;
use picklock_stores::Servers;

use crate::can_run::can_run;

#[path = "../support/made_up.rs"]
mod ledger;

/// The list of kinds, with one line for the one that is made up.
static WITH_IT: &[&StoreKind] = &[&ledger::LEDGER];

/// A lock on the first ledger of those that it is given.
const LOCK: &str = r#"
import os, socket, sys, time

stores = os.environ["PICKLOCK_STORES"].split(",")
host, port = stores[0].removeprefix("tcp://").split(":")
ledger = socket.create_connection((host, int(port)))
replies = ledger.makefile()

def ask(line):
    ledger.sendall((line + "\n").encode())
    return replies.readline().strip()

me = socket.gethostname()
for line in sys.stdin:
    word, key = line.split()[:2]
    if word == "acquire":
        until = time.monotonic() + 1
        granted = ask(f"take {key} {me}") == "yes"
        while not granted and time.monotonic() < until:
            time.sleep(0.02)
            granted = ask(f"take {key} {me}") == "yes"
        print("granted" if granted else "refused", flush=True)
    else:
        print("released" if ask(f"free {key} {me}") == "ok" else "failed", flush=True)
"#;

#[test]
fn a_program_can_use_a_new_store_kind() {
    if !can_run(&["python3"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let lock = directory.path().join("lock.py");
    std::fs::write(&lock, LOCK).unwrap();
    for topology in ["ledger", "ledgers:3"] {
        let servers = Servers::read(WITH_IT, topology).unwrap();
        let program = Program::new(format!("python3 {}", lock.display())).on(servers);
        assert!(program.to_string().starts_with(&format!("program{{topology={topology}}}:")), "{program}");
        picklock::gate(program).scenarios(["calm"]).seeds(1).assert_holds();
    }
}
