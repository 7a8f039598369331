//! How a real pgbouncer runs as the pooler before a real server: by the rules of the simulated one.
//!
//! It logs every client in by itself (`auth_type=any`) and connects as a user of its own, as the simulated one does. A server that cannot be reached is
//! tried again for each client that comes (`server_login_retry=0`), as the simulated one does.

use std::path::Path;

use picklock_model::trace::Role;
use picklock_sim::store::{Member, RealServer};

use super::installed::as_user_words;
use crate::PORT;
use crate::pooler::{Mode, Rules};

/// Where Debian has it: in no `PATH` of a user that is not root.
const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// Writes its first argument to a file and runs the rest, which is a pgbouncer by it.
const WITH_FILE: &str =
    r#"cd "$HOME" && printf '%s' "$1" > pgbouncer.ini && shift && exec "$@" pgbouncer.ini"#;

/// How the pooler of a store runs. None without a pgbouncer.
pub(super) fn server(pooler: &Member, members: &[Member], rules: Rules) -> Option<RealServer> {
    Path::new(PROGRAM).exists().then_some(())?;
    let is_its = |other: &&Member| other.store == pooler.store && other.role == Role::Leader;
    let server = members.iter().find(is_its)?;
    let mut words: Vec<String> = ["sh", "-c", WITH_FILE, "sh"].map(str::to_owned).to_vec();
    words.push(configuration(&server.name, rules));
    words.extend(as_user_words());
    words.push(PROGRAM.to_owned());
    Some(RealServer::new(words))
}

/// The file of a pooler before this server. The times that it leaves out are pgbouncer's defaults, and those of the simulated pooler.
fn configuration(server: &str, rules: Rules) -> String {
    let mode = match rules.mode {
        Mode::Transaction => "transaction",
        Mode::Session => "session",
    };
    let size = rules.size;
    format!(
        "[databases]\n* = host={server} port={PORT} dbname=picklock user=pooler\n[pgbouncer]\nlisten_addr = 0.0.0.0\n\
         listen_port = {PORT}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\ndefault_pool_size = {size}\n\
         server_login_retry = 0\nlog_stats = 0\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_rules_of_the_pooler() {
        let file = configuration("node-1", Rules { mode: Mode::Session, size: 3 });
        assert!(file.starts_with("[databases]\n* = host=node-1 port=5432 "), "{file}");
        assert!(file.contains("\npool_mode = session\ndefault_pool_size = 3\n"), "{file}");
    }
}
