//! River #197: a leader of the past extends the term of the present one.
//!
//! *Claim:* one client of a database leads, and it alone enqueues the periodic jobs.
//! *Mechanism:* a leader extends its term by INSERT ... ON CONFLICT DO UPDATE. Its WHERE compares `EXCLUDED.leader_id` with the parameter that the row to
//! be inserted was made of, which is always equal. So one whose term was over, and after whom somebody else was elected, finds that it leads
//! still, again and again.
//! *Versions:* 0.0.1 to 0.0.19; 0.0.20 compares the row that is there.
//! *Source:* <https://github.com/riverqueue/river/issues/197>, mended by <https://github.com/riverqueue/river/pull/199>

use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::election::{Election, design};
use super::version::FIXED;

/// The election that a former leader wins again.
pub(super) static FAMILY: Family = Family {
    name: "river-197",
    claim: "River's leader: a row with the end of a term, which its leader extends",
    weakness: "the extension compares the row to be inserted with itself, and takes whatever row is there",
    source: "River 0.0.1 to 0.0.19, https://github.com/riverqueue/river/issues/197",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    design(Election {
        owner: None,
        extensions: 3,
        set_up: "CREATE TABLE IF NOT EXISTS river_leader (name text PRIMARY KEY, leader_id text NOT NULL, \
                 elected_at timestamptz NOT NULL, expires_at timestamptz NOT NULL)",
        delete_over: "DELETE FROM river_leader WHERE name = $1 AND expires_at < now() AND $2 <> ''",
        elect: "INSERT INTO river_leader (name, leader_id, elected_at, expires_at) VALUES ($1, $2, now(), now() + LEASE) \
                ON CONFLICT (name) DO NOTHING RETURNING name",
        extend: if args.get(FIXED) {
            "INSERT INTO river_leader (name, leader_id, elected_at, expires_at) VALUES ($1, $2, now(), now() + LEASE) \
             ON CONFLICT (name) DO UPDATE SET expires_at = now() + LEASE WHERE river_leader.leader_id = $2 RETURNING name"
        } else {
            "INSERT INTO river_leader (name, leader_id, elected_at, expires_at) VALUES ($1, $2, now(), now() + LEASE) \
             ON CONFLICT (name) DO UPDATE SET expires_at = now() + LEASE WHERE excluded.leader_id = $2 RETURNING name"
        },
        resign: "DELETE FROM river_leader WHERE name = $1 AND leader_id = $2 RETURNING name",
    })
}
