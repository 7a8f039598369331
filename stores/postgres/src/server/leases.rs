//! Leases in rows, in the trace: a row of a known table is a lock's record until the end that one of its columns names.
//!
//! Only where the server's clock decides when a lease is over. Where clients compare the column with clocks of their own, nobody knows it but
//! they.

use picklock_model::ids::Key;
use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::host::Origin;

use crate::protocol::{Value, timestamp};
use crate::server::data::{Ended, Heap, Place, Row, Schema};
use crate::server::guarded::{Lease, Leases};
use crate::server::machine::{Machine, Now};

/// The tables: their names, the column with the end of a lease, and that with its owner. ShedLock's, River's and Oban's.
const TABLES: [(&str, &str, &str); 3] = [
    ("shedlock", "lock_until", "locked_by"),
    ("river_leader", "expires_at", "leader_id"),
    ("oban_leaders", "expires_at", "node"),
];

/// The name and the lease of a row, whether that is over or not.
fn lease_of(schema: &Schema, row: &Row) -> Option<(String, Lease)> {
    let (_, end, owner) = TABLES.iter().find(|(table, ..)| **table == *schema.name)?;
    let column = |name: &str| {
        let at = schema.columns.iter().position(|column| column.name == name)?;
        row.get(at).cloned()
    };
    let until = match column(end)? {
        Value::Time(micros) | Value::Stamp(micros) => micros,
        _ => return None,
    };
    Some((schema.name_of(row)?, Lease { until, owner: column(owner)?.text() }))
}

/// How long a lease has been over at this time.
fn overdue(lease: &Lease, now: i64) -> Option<u64> {
    let micros = u64::try_from(now - lease.until).ok()?;
    Some(micros * 1_000)
}

impl Machine {
    /// Reports which leases a commit has begun, extended and ended.
    pub(crate) fn report_leases(&mut self, origin: Origin, ended: &Ended) {
        if !self.guarded.leases {
            return;
        }
        let now = timestamp(self.now.wall.as_nanos());
        let lease =
            |heap: &Heap, place: &Place, row: &Row| lease_of(heap.catalogue.any_schema(&place.table)?, row);
        let mut changed = Leases::new();
        for (place, row, _) in &ended.born {
            changed.extend(lease(&self.heap, place, row));
        }
        let died = ended.died.iter().filter_map(|(place, row)| lease(&self.heap, place, row));
        let gone: Vec<String> =
            died.map(|(name, _)| name).filter(|name| !changed.contains_key(name)).collect();
        self.expire_leases();
        for name in gone {
            if self.leases.remove(&name).is_some() {
                self.effects.events.push((origin, What::Deleted { key: Key::new(&name) }));
            }
        }
        for (name, new) in changed {
            let key = || Key::new(&name);
            let events = match self.leases.remove(&name) {
                Some(_) if new.until <= now => vec![What::Deleted { key: key() }],
                Some(old) if old.owner == new.owner => vec![What::Extended { key: key() }],
                Some(_) => vec![What::Deleted { key: key() }, What::Created { key: key() }],
                None if new.until > now => vec![What::Created { key: key() }],
                None => Vec::new(),
            };
            self.effects.events.extend(events.into_iter().map(|what| (origin, what)));
            if new.until > now {
                self.leases.insert(name, new);
            }
        }
    }

    /// Reports the leases that are over.
    pub(crate) fn expire_leases(&mut self) {
        let now = timestamp(self.now.wall.as_nanos());
        let events = &mut self.effects.events;
        self.leases.retain(|name, lease| match overdue(lease, now) {
            Some(overdue_ns) => {
                events.push((Origin::default(), What::Expired { key: Key::new(name), overdue_ns }));
                false
            }
            None => true,
        });
    }

    /// When the next lease is over, if the clocks go on as they do.
    pub(crate) fn next_lease_end(&self) -> Option<Monotonic> {
        let now = timestamp(self.now.wall.as_nanos());
        let first = self.leases.values().map(|lease| lease.until).min()?;
        let micros = u64::try_from(first - now).unwrap_or(0);
        Some(self.now.monotonic + std::time::Duration::from_micros(micros))
    }

    /// What became of a lease while the server was down: none if there is no such row, or rows are no leases. One that still runs is known
    /// from now on.
    pub(crate) fn resume_lease(&mut self, key: &Key, now: Now) -> Option<What> {
        if !self.guarded.leases {
            return None;
        }
        self.now = now;
        let wall = timestamp(now.wall.as_nanos());
        let rows = self
            .heap
            .catalogue
            .committed()
            .flat_map(|(schema, rows)| rows.filter_map(move |(_, row)| lease_of(schema, row)));
        let (name, lease) = rows.into_iter().find(|(name, _)| name == key.as_str())?;
        match overdue(&lease, wall) {
            Some(overdue_ns) => Some(What::Expired { key: key.clone(), overdue_ns }),
            None => {
                self.leases.insert(name, lease);
                Some(What::Created { key: key.clone() })
            }
        }
    }
}
