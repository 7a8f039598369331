//! Oban for Python #32: processes of one host lead side by side.
//!
//! *Claim:* one process of all leads, and it alone inserts the periodic jobs.
//! *Mechanism:* a leader has the name of its host, unless it is given another one, and extends its term wherever a row has this name. A
//! process that was late, and after which another one of the same host was elected, finds its own name in the row: both lead, and each
//! extends the term of the other as long as both run. One that stops deletes the row of the other.
//! *Versions:* 0.6.0 as it was reported; the statements of 0.6.3 are the same. The twin has a name for each process, which the thread
//! proposes.
//! *Source:* <https://github.com/oban-bg/oban-py/issues/32>; `reelect_leader.sql`, `resign_leader.sql`

use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::election::{Election, design};
use super::version::FIXED;

/// The election among processes of one name.
pub(super) static FAMILY: Family = Family {
    name: "oban-py-32",
    claim: "Oban's leader: a row with the name of a process and the end of its term, which it extends",
    weakness: "all processes of a host have one name, and each extends the term of another",
    source: "Oban for Python 0.6.0, https://github.com/oban-bg/oban-py/issues/32",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    design(Election {
        owner: (!args.get(FIXED)).then_some("host-1"),
        extensions: 2,
        set_up: "CREATE TABLE IF NOT EXISTS oban_leaders (name text PRIMARY KEY, node text NOT NULL, \
                 elected_at timestamp NOT NULL, expires_at timestamp NOT NULL)",
        delete_over: "DELETE FROM oban_leaders WHERE name = $1 AND expires_at < timezone('UTC', now()) AND $2 <> ''",
        elect: "INSERT INTO oban_leaders (name, node, elected_at, expires_at) \
                VALUES ($1, $2, timezone('UTC', now()), timezone('UTC', now()) + LEASE) \
                ON CONFLICT (name) DO NOTHING RETURNING node",
        extend: "INSERT INTO oban_leaders (name, node, elected_at, expires_at) \
                 VALUES ($1, $2, timezone('UTC', now()), timezone('UTC', now()) + LEASE) \
                 ON CONFLICT (name) DO UPDATE SET expires_at = EXCLUDED.expires_at \
                 WHERE oban_leaders.node = EXCLUDED.node RETURNING node",
        resign: "DELETE FROM oban_leaders WHERE name = $1 AND node = $2 RETURNING node",
    })
}
