//! The cluster with which each real server begins. To make one takes seconds, so one is made for the machine, and each server has a copy of it:
//! a primary and its standby begin with the same.
//!
//! It has the users of the designs' clients and of poolers, their database, and lets in whoever comes, standbys too.

use std::path::Path;
use std::process::Command;

use picklock_sim::store::FirstFiles;

use super::installed::{as_user, is_root, programs, run, version};

/// Carries statements out in a new cluster, and has it let in whoever comes. It notes the most connections that its servers take, since a standby
/// does not start with fewer than are noted.
const FILL: &str = r#"printf '%s' "$0" | "$1" --single -c max_connections="$3" -D "$2" postgres && printf 'host all all all trust\nhost replication all all trust\n' >> "$2/pg_hba.conf""#;

/// Raised when what is made here changes.
const FORM: u32 = 4;

/// The most connections that a server takes.
pub(super) const CONNECTIONS: &str = "50";

/// The statements that fill the cluster. What is copied for each server is kept small: no server makes a database.
const CONTENT: &str = "CREATE ROLE picklock SUPERUSER LOGIN;
CREATE ROLE pooler SUPERUSER LOGIN;
CREATE DATABASE picklock;
UPDATE pg_database SET datistemplate = false;
DROP DATABASE template0;
DROP DATABASE template1;
";

/// The cluster, in the directory `data`; none without an installed server.
pub(super) fn first_files() -> Option<FirstFiles> {
    Some(FirstFiles { name: format!("postgres-{}-{FORM}", version()?), make })
}

/// Makes the cluster in this empty directory.
fn make(directory: &Path) -> Result<(), String> {
    let bin = programs().ok_or("PostgreSQL is not installed")?;
    let data = directory.join("data");
    std::fs::create_dir(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    if is_root() {
        run(Command::new("chown").arg("-R").arg("postgres:postgres").arg(directory))?;
    }
    let options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--wal-segsize=1"];
    run(as_user(bin.join("initdb")).args(options).arg("--no-instructions").arg("-D").arg(&data))?;
    run(as_user("sh").args(["-c", FILL, CONTENT]).arg(bin.join("postgres")).arg(&data).arg(CONNECTIONS))
}
