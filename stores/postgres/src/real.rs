//! How a real PostgreSQL runs as a server of a store: the command that starts it, and the cluster that it starts with.
//!
//! To make a cluster takes seconds, so one is made for the machine, and each server begins with a copy of it. It has the user and the database of the designs' clients, and lets in whoever comes.
//!
//! Left out on purpose: a real standby, a real pooler, and servers that sync later or never.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::{FirstFiles, Installed, Keeps, Member, RealServer};

use crate::PORT;
use crate::params::{FSYNC, SYNCHRONOUS_COMMIT};

/// Runs a server in its directory, as the user `postgres` where this is root: a server refuses to run as root. What an earlier life says of its
/// process is not true of this one.
const AT_HOME: &str = r#"cd "$HOME/data" && rm -f postmaster.pid && exec "$@""#;

/// Carries statements out in a new cluster, and has it let in whoever comes.
const FILL: &str = r#"printf '%s' "$0" | "$1" --single -D "$2" postgres && echo 'host all all all trust' >> "$2/pg_hba.conf""#;

/// Options that change nothing of what a client sees.
const OPTIONS: [&str; 9] = [
    "listen_addresses=*",
    "unix_socket_directories=",
    "autovacuum=off",
    "shared_buffers=8MB",
    "max_connections=50",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "logging_collector=off",
];

/// Which real PostgreSQL there is: `postgres 15.20`.
pub(crate) const INSTALLED: Installed = Installed { program: "postgres", version };

fn version() -> Option<String> {
    let output = Command::new(programs()?.join("postgres")).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(format!("postgres {}", text.split_whitespace().nth(2)?))
}

/// Where its programs are: where `PG_BIN` says, or where Debian keeps those of each version.
pub(crate) fn programs() -> Option<PathBuf> {
    if let Some(given) = env::var_os("PG_BIN") {
        return Some(given.into());
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("postgres").exists() && bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop()
}

/// How a server runs; none for another member, or for what it cannot be configured to do.
pub(crate) fn server(member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
    let is_alone = member.role == Role::Leader && members.iter().all(|other| other.role == Role::Leader);
    let syncs = settings.get(SYNCHRONOUS_COMMIT) != "off" && settings.get(FSYNC) == "on";
    if !is_alone || !syncs {
        return None;
    }
    let mut words = vec!["sh".to_owned(), "-c".to_owned(), AT_HOME.to_owned(), "sh".to_owned()];
    if is_root() {
        words
            .extend(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"].map(str::to_owned));
    }
    let files = FirstFiles { name: version()?.replace(' ', "-"), make };
    let program = programs()?.join("postgres");
    words.extend([program.display().to_string(), "-D".into(), ".".into(), "-p".into(), PORT.to_string()]);
    words.extend(OPTIONS.iter().flat_map(|option| ["-c".to_owned(), (*option).to_owned()]));
    Some(RealServer { keeps: Keeps::All, files: Some(files), ..RealServer::new(words) })
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

/// Makes the cluster that servers start with, in this empty directory.
fn make(directory: &Path) -> Result<(), String> {
    let bin = programs().ok_or("PostgreSQL is not installed")?;
    let data = directory.join("data");
    std::fs::create_dir(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    if is_root() {
        run(Command::new("chown").arg("-R").arg("postgres:postgres").arg(directory))?;
    }
    let options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--wal-segsize=1"];
    run(as_user(&bin.join("initdb")).args(options).arg("--no-instructions").arg("-D").arg(&data))?;
    let sql = "CREATE ROLE picklock SUPERUSER LOGIN;\nCREATE DATABASE picklock;\n";
    run(as_user(Path::new("sh")).args(["-c", FILL, sql]).arg(bin.join("postgres")).arg(&data))
}

/// A program as the user `postgres`, where this is root.
pub(crate) fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
