//! A PostgreSQL that a script starts for itself, with all its processes, on one host.

use picklock_supervisor::Status;

use crate::driver::{run, runtime, setup};

/// Where Debian has PostgreSQL 15.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

#[test]
fn a_session_of_postgresql_waits_for_the_row_of_another() {
    let server = format!("{PROGRAMS}/postgres");
    if runtime(&[&server]).is_none() || runtime(&["psql"]).is_none() {
        return;
    }
    let script = format!("{}/../examples/adapters/postgres_rows.sh", env!("CARGO_MANIFEST_DIR"));
    let setup = setup(&[&script, PROGRAMS], 1);
    let story = run(&setup, &[]);
    let turns = ["wants row", "holds row", "frees row"].repeat(2);
    assert_eq!(story.printed(), turns, "{story:#?}");
    assert_eq!(story.status, Some(Status::Code(0)));
    let times = if std::env::var_os("PICKLOCK_NIGHTLY").is_some() { 20 } else { 2 };
    for _ in 1..times {
        let again = run(&setup, &[]);
        let differs = story.steps.iter().zip(&again.steps).find(|(one, other)| one != other);
        assert_eq!(differs, None);
        assert_eq!(story.steps.len(), again.steps.len());
    }
}
