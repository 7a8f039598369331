//! Real servers in virtual time.

use picklock_supervisor::{Clock, Group, Setup, Step};

use crate::driver::{runtime, setup};

/// Says one thing after the other to a server at `port`, each `pause_ms` after the last answer; what it answered.
fn dialogue(setup: &Setup, port: u16, says: &[&str], pause_ms: u64) -> (Vec<String>, Vec<String>) {
    let mut group = Group::start(setup).expect("start the server");
    let mut clock = Clock { monotonic_ns: 1_000_000_000, wall_ns: 1_700_000_000_000_000_000 };
    let (mut steps, mut answers) = (Vec::new(), Vec::new());
    let (mut listener, mut conn, mut says) = (None, None, says.iter());
    let mut next_ns = clock.monotonic_ns + 100_000_000;
    for _ in 0..20_000 {
        let step = group.step(clock).expect("step the server");
        steps.push(format!("{} {step:?}", clock.monotonic_ns));
        match step {
            Step::Listen { socket, port: at } if at == port => listener = Some(socket),
            Step::Sent { bytes, .. } => answers.push(String::from_utf8_lossy(&bytes).into_owned()),
            Step::Exited(_) => break,
            Step::Waits { until_ns } => {
                if clock.monotonic_ns >= next_ns {
                    let from = "10.0.0.7:999".parse().expect("an address");
                    let conn = *conn.get_or_insert_with(|| {
                        group.accept(listener.expect("it listens"), from).expect("it accepts")
                    });
                    let Some(words) = says.next() else { break };
                    group.deliver(conn, words.as_bytes());
                    next_ns += pause_ms * 1_000_000;
                    continue;
                }
                let until = until_ns.map_or(next_ns, |until| until.min(next_ns)).max(clock.monotonic_ns);
                clock.wall_ns += until - clock.monotonic_ns;
                clock.monotonic_ns = until;
            }
            _ => {}
        }
    }
    (steps, answers)
}

#[test]
fn a_lease_of_a_real_redis_server_expires_in_virtual_time() {
    let Some(server) = runtime(&["redis-server"]) else { return };
    let command = [
        &server,
        "--port",
        "6379",
        "--bind",
        "0.0.0.0",
        "--protected-mode",
        "no",
        "--save",
        "",
        "--dir",
        "/dev/shm",
    ];
    let says = [
        "SET lock:1 a NX PX 900\r\n",
        "SET lock:1 b NX PX 900\r\n",
        "SET lock:1 c NX PX 900\r\n",
        "BGSAVE\r\n",
        "PING\r\n",
    ];
    let (steps, answers) = dialogue(&setup(&command, 1), 6379, &says, 500);
    assert_eq!(
        answers,
        ["+OK\r\n", "$-1\r\n", "+OK\r\n", "+Background saving started\r\n", "+PONG\r\n"],
        "{steps:#?}"
    );
    for _ in 0..4 {
        let again = dialogue(&setup(&command, 1), 6379, &says, 500);
        let differs = steps.iter().zip(&again.0).find(|(one, other)| one != other);
        assert_eq!(differs, None);
        assert_eq!(again.1, answers);
    }
}
