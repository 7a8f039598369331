//! A store kind that no file of a command names is listed, read and served.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use clap::Parser;
use picklock_sim::store::StoreKind;

use super::*;

#[path = "../../../tests/support/made_up.rs"]
mod made_up;

/// The list of kinds, with one line for the one that is made up.
static WITH_IT: &[&StoreKind] = &[&made_up::LEDGER];

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: ServeArgs,
}

/// A port that nothing listens at, and whose two successors are free as well.
fn free_port() -> u16 {
    let free = |port: u16| TcpListener::bind((LOOPBACK, port)).is_ok();
    let any = || TcpListener::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
    (0..100).map(|_| any()).find(|port| *port < 65_000 && free(port + 1) && free(port + 2)).unwrap()
}

/// Sends a line; the line that comes back.
fn ask(port: u16, line: &str) -> Option<String> {
    let mut socket = TcpStream::connect((LOOPBACK, port)).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    writeln!(socket, "{line}").ok()?;
    let mut answer = String::new();
    BufReader::new(socket).read_line(&mut answer).ok()?;
    Some(answer.trim_end().to_owned())
}

#[test]
fn a_new_store_kind_needs_a_file_and_a_line() {
    let listed = listed(WITH_IT);
    assert!(listed.starts_with("ledger, ledgers:N (N from 1 to 5);"), "{listed}");
    let read = |text: &str| Servers::read(WITH_IT, text);
    assert_eq!(read("book").unwrap().to_string(), "ledger");
    assert!(read("ledgers:6").unwrap_err().to_string().contains("`ledgers:N` with N from 1 to 5"));
    assert!(read("ledgrs:2").unwrap_err().to_string().contains("did you mean `ledgers`"));

    let first = free_port();
    let control = first + 2;
    let line = ["serve", "--quiet", "--port", &first.to_string(), "--control", &control.to_string()];
    let mut args = Line::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).args;
    args.topology = read("ledgers:2").unwrap();
    std::thread::scope(|scope| {
        let served = scope.spawn(|| serve(&args).map(|exit| exit == Exit::Expected).unwrap_or_default());
        let mut answers = (0..200).map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            ask(first, "take k a")
        });
        assert_eq!(answers.find_map(|answer| answer).unwrap(), "yes");
        assert_eq!(ask(first, "take k b").unwrap(), "no");
        assert_eq!(ask(first + 1, "take k b").unwrap(), "yes");
        assert_eq!(ask(control, "stop").unwrap(), "ok");
        assert!(served.join().unwrap());
    });
    args.password = Some("secret".to_owned());
    let Err(Failure::Input(why)) = serve(&args) else { panic!("a password is refused") };
    assert!(why.contains("the simulated servers of ledger take every user"), "{why}");
}
