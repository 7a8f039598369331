//! Fields of hashes that end, since Redis 7.4. The replies are those of the sources; no server of these versions was asked.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::EPOCH_NS;
use picklock_model::trace::What;

use super::versions::Bench;
use crate::protocol::resp::Reply;
use crate::server::rdb;
use crate::server::version::Version;

fn numbers<const N: usize>(numbers: [i64; N]) -> Reply {
    Reply::Array(numbers.map(Reply::Integer).to_vec())
}

fn bulk(text: &str) -> Reply {
    Reply::Bulk(text.as_bytes().to_vec())
}

fn wait(bench: &mut Bench, ms: u64) {
    bench.now = bench.now + Duration::from_millis(ms);
}

#[test]
fn a_version_has_them_or_does_not() {
    for (name, version) in Version::NAMED {
        let knows = |line: &str| {
            let reply = Bench::of(version).run(line);
            !matches!(reply, Reply::Error(text) if text.starts_with("ERR unknown command"))
        };
        assert_eq!(knows("HPEXPIRE h 1 FIELDS 1 f"), ["7.4", "8.0", "8.4"].contains(&name), "{name}");
        assert_eq!(knows("HSETEX h EX 1 FIELDS 1 f v"), ["8.0", "8.4"].contains(&name), "{name}");
    }
}

#[test]
fn a_field_ends_and_the_last_one_takes_the_hash_with_it() {
    let mut bench = Bench::of(Version::V7_4);
    bench.run("HSET h a 1 b 2");
    assert_eq!(bench.run("HPEXPIRE h 100 FIELDS 3 a b none"), numbers([1, 1, -2]));
    assert_eq!(bench.events, vec![What::Extended { key: Key::new("h") }; 2]);
    let when = EPOCH_NS / 1_000_000 + 100;
    let said = format!("HPEXPIREAT $1 h ${} {when} $6 FIELDS $1 2 $1 a $1 b ", when.to_string().len());
    assert!(bench.writes.ends_with(&said), "{} {said}", bench.writes);
    assert_eq!(bench.run("HPEXPIRE h 200 FIELDS 1 b"), numbers([1]));
    wait(&mut bench, 100);
    assert_eq!(bench.run("HPTTL h FIELDS 2 a b"), numbers([0, 100]));
    wait(&mut bench, 1);
    assert_eq!(bench.run("HGET h a"), Reply::Nil);
    assert!(bench.writes.contains("HDEL $1 h $1 a"), "{}", bench.writes);
    assert_eq!(bench.run("HTTL h FIELDS 2 a b"), numbers([-2, 1]));
    wait(&mut bench, 100);
    assert_eq!(bench.run("EXISTS h"), Reply::Integer(0));
    assert_eq!(bench.events, [What::Expired { key: Key::new("h"), overdue_ns: 0 }]);
}

#[test]
fn the_cycle_deletes_fields_that_nobody_asks_for() {
    let mut bench = Bench::of(Version::V7_4);
    bench.run("HSET h a 1");
    bench.run("HEXPIRE h 1 FIELDS 1 a");
    wait(&mut bench, 1_001);
    bench.node.store.now = bench.now;
    assert!(bench.node.store.has_volatile());
    bench.node.store.expire_dead();
    assert_eq!(bench.node.store.all().count(), 0);
}

#[test]
fn an_end_is_set_on_conditions() {
    let mut bench = Bench::of(Version::V8_4);
    bench.run("HSET h a 1 b 2");
    assert_eq!(bench.run("HPEXPIRE h 100 XX FIELDS 1 a"), numbers([0]));
    assert_eq!(bench.run("HPEXPIRE h 100 GT FIELDS 1 a"), numbers([0]));
    assert_eq!(bench.run("HPEXPIRE h 100 LT FIELDS 1 a"), numbers([1]));
    assert_eq!(bench.run("HPEXPIRE h 200 NX FIELDS 2 a b"), numbers([0, 1]));
    assert_eq!(bench.run("HPEXPIRE h 100 GT FIELDS 1 a"), numbers([0]));
    assert_eq!(bench.run("HPEXPIRE h 101 GT FIELDS 1 a"), numbers([1]));
    assert_eq!(bench.run("HPEXPIREAT h 1 FIELDS 1 a"), numbers([2]), "in the past");
    assert_eq!(bench.run("HPERSIST h FIELDS 3 a b none"), numbers([-2, 1, -2]));
    assert_eq!(bench.run("HTTL h FIELDS 1 b"), numbers([-1]));
    assert_eq!(bench.run("HTTL none FIELDS 2 a b"), numbers([-2, -2]));
}

#[test]
fn a_field_that_is_set_anew_lasts_and_one_that_is_counted_up_does_not() {
    let mut bench = Bench::of(Version::V8_0);
    bench.run("HSET h a 1 b 2 c 3");
    bench.run("HPEXPIRE h 100 FIELDS 3 a b c");
    bench.run("HSET h a 5");
    bench.run("HINCRBY h b 1");
    assert!(bench.writes.contains("HPEXPIREAT"), "{}", bench.writes);
    assert_eq!(bench.run("HPTTL h FIELDS 3 a b c"), numbers([-1, 100, 100]));
}

#[test]
fn values_are_read_and_ended_at_once() {
    let mut bench = Bench::of(Version::V8_0);
    assert_eq!(bench.run("HSETEX h FXX PX 100 FIELDS 1 a 1"), Reply::Integer(0));
    assert_eq!(bench.run("HSETEX h FNX PX 100 FIELDS 2 a 1 b 2"), Reply::Integer(1));
    assert_eq!(bench.run("HSETEX h FNX PX 100 FIELDS 2 c 1 b 2"), Reply::Integer(0));
    assert_eq!(bench.run("HSETEX h KEEPTTL FIELDS 1 a 5"), Reply::Integer(1));
    assert_eq!(bench.run("HPTTL h FIELDS 2 a b"), numbers([100, 100]));
    assert_eq!(bench.run("HSETEX h FIELDS 1 a 5"), Reply::Integer(1));
    assert_eq!(bench.run("HPTTL h FIELDS 1 a"), numbers([-1]));
    let both = || Reply::Array(vec![bulk("5"), Reply::Nil]);
    assert_eq!(bench.run("HGETEX h PX 50 FIELDS 2 a none"), both());
    assert_eq!(bench.run("HPTTL h FIELDS 1 a"), numbers([50]));
    assert_eq!(bench.run("HGETEX h PERSIST FIELDS 2 a none"), both());
    assert!(bench.writes.contains("HPERSIST"), "{}", bench.writes);
    assert_eq!(bench.run("HPTTL h FIELDS 1 a"), numbers([-1]));
    assert_eq!(
        bench.run("HGETDEL h FIELDS 3 a a none"),
        Reply::Array(vec![bulk("5"), Reply::Nil, Reply::Nil])
    );
    assert_eq!(bench.run("HGETDEL h FIELDS 1 b"), Reply::Array(vec![bulk("2")]));
    assert_eq!(bench.run("EXISTS h"), Reply::Integer(0));
    assert_eq!(bench.run("HSETEX h EXAT 1 FIELDS 1 a 1"), Reply::Integer(1), "it has ended at once");
    assert_eq!(bench.run("EXISTS h"), Reply::Integer(0));
}

#[test]
fn what_is_wrong_is_said_in_their_words() {
    let mut bench = Bench::of(Version::V8_4);
    bench.run("HSET h a 1");
    bench.run("SET s 1");
    for (line, error) in [
        ("HPEXPIRE h x FIELDS 1 a", "ERR value is not an integer or out of range"),
        ("HPEXPIRE h -1 FIELDS 1 a", "ERR invalid expire time, must be >= 0"),
        ("HEXPIRE h 99999999999999 FIELDS 1 a", "ERR invalid expire time in 'hexpire' command"),
        ("HPEXPIRE h 1 FELDS 1 a", "ERR Mandatory argument FIELDS is missing or not at the right position"),
        ("HPEXPIRE h 1 FIELDS 0 a", "ERR Parameter `numFields` should be greater than 0"),
        ("HPEXPIRE h 1 FIELDS 2 a", "ERR The `numfields` parameter must match the number of arguments"),
        ("HTTL h FIELDS x a", "ERR Number of fields must be a positive integer"),
        (
            "HSETEX h EX 1 PX 1 FIELDS 1 a 1",
            "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified",
        ),
        ("HSETEX h FNX FXX FIELDS 1 a 1", "ERR Only one of FXX or FNX arguments can be specified"),
        ("HSETEX h WHAT FIELDS 1 a 1", "ERR unknown argument: WHAT"),
        ("HSETEX h FIELDS 2 a 1", "ERR wrong number of arguments for 'hsetex' command"),
        ("HPEXPIRE h 1 FIELDS 1", "ERR wrong number of arguments for 'hpexpire' command"),
    ] {
        assert_eq!(bench.run(line), Reply::error(error), "{line}");
    }
    let Reply::Error(text) = bench.run("HGETDEL s FIELDS 1 a") else { panic!("an error") };
    assert!(text.starts_with("WRONGTYPE"));
}

#[test]
fn ends_outlast_a_copy_a_snapshot_and_a_payload() {
    let mut bench = Bench::of(Version::V7_4);
    bench.run("HSET h a 1 b 2 c 3");
    bench.run("HPEXPIRE h 100 FIELDS 1 a");
    bench.run("HPEXPIRE h 70 FIELDS 1 c");
    bench.run("COPY h other");
    assert_eq!(bench.run("HPTTL other FIELDS 3 a b c"), numbers([100, -1, 70]));
    let text = String::from_utf8_lossy(&bench.node.store.snapshot()).into_owned();
    assert_eq!(text.matches("HPEXPIREAT").count(), 4);
    let value = bench.node.store.kept(b"h").unwrap().value.clone();
    assert_eq!(rdb::restore(&rdb::dump(&value)).unwrap(), value);
}
