//! The lines of stores and resources.

use picklock_model::ids::{Key, Token};
use picklock_model::trace::{Role, What};

use super::{Point, Recording};
use crate::recorded::line::{Line, Operation};
use crate::recorded::malformed::{Malformed, clipped};

impl Recording {
    /// The value from which the changes of a key are counted: what it had before the first of them. One resource keeps a key,
    /// or the order of its changes would be a matter of clocks; a host that was restored keeps it as well.
    fn guarded_at(
        &mut self,
        host: usize,
        key: usize,
        operation: Operation,
        line: &Line<'_>,
    ) -> Result<i64, Malformed> {
        let first = match operation {
            Operation::Written => line.value.unwrap_or_default().saturating_sub(1),
            _ => line.value.unwrap_or_default(),
        };
        let (hosts, base) = self.guarded.entry(key).or_insert_with(|| (vec![host], first));
        let (known, base) = (hosts[0], *base);
        if operation == Operation::Restored {
            hosts.push(host);
        }
        if !hosts.contains(&host) {
            return Err(Malformed::of(
                "host",
                format!(
                    "`{}` noted operations on this key before: only one host may, the one that orders them",
                    clipped(&self.hosts[known].name)
                ),
            ));
        }
        Ok(base)
    }

    /// True if any resource noted anything.
    pub(in crate::recorded) fn has_resource(&self) -> bool {
        !self.guarded.is_empty()
    }

    /// Adds an event of a store or a resource.
    pub(super) fn noted(
        &mut self,
        host: usize,
        line: &Line<'_>,
        operation: Operation,
        point: Point,
    ) -> Result<(), Malformed> {
        let name = line.key.as_deref().unwrap_or_default();
        let key = if line.key.is_some() { Some(self.key(name)) } else { None };
        let base = match (operation.belongs_to(), key) {
            (Some(Role::Resource), Some(key)) => self.guarded_at(host, key, operation, line)?,
            _ => 0,
        };
        let (grant, place) = (line.grant.as_ref().map(|grant| self.grant(grant)), key.unwrap_or_default());
        let key = key.map_or_else(|| Key::new(""), |key| self.keys[key].clone());
        let value = line.value.unwrap_or_default().saturating_sub(base);
        let token = line.token.map(Token);
        let what = match operation {
            Operation::Created => What::Created { key },
            Operation::Extended => What::Extended { key },
            Operation::Deleted => What::Deleted { key },
            Operation::Expired => What::Expired { key, overdue_ns: 0 },
            Operation::Lost => What::Lost { key },
            Operation::Promoted => What::BecameLeader,
            Operation::Demoted => What::StoppedLeading,
            Operation::Read => What::ResourceRead { key, value, token },
            Operation::Written => What::ResourceWritten { key, value, token },
            Operation::Restored => What::ResourceRestored { key, value },
            Operation::Taken => What::ResourceTaken {
                key,
                amount: line.amount.unwrap_or_default(),
                left: line.left.unwrap_or_default(),
                taken: line.taken.unwrap_or_default(),
            },
            _ => {
                let token = token.unwrap_or(Token(0));
                What::ResourceRefused { key, token, highest: token }
            }
        };
        self.note(host, None, what, point);
        if let Some(noted) = self.events.last_mut() {
            (noted.grant, noted.key) = (grant, place);
        }
        Ok(())
    }
}
