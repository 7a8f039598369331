//! Turns of the perfect lock.

use std::task::Waker;

use crate::world::oracle::*;
use crate::world::state::State;
use picklock_model::ids::{GrantId, HostId, Key};

impl State {
    /// True if the section holds the key now; otherwise it is in the queue, and woken when its turn comes.
    pub(crate) fn oracle_poll(&mut self, grant: GrantId, key: &Key, waker: &Waker) -> bool {
        let turn = self.oracle.keys.entry(key.clone()).or_default();
        if turn.holder == Some(grant) && !turn.released {
            return true;
        }
        match turn.queue.iter_mut().find(|(queued, _)| *queued == grant) {
            Some((_, present)) => present.clone_from(waker),
            None => turn.queue.push_back((grant, waker.clone())),
        }
        self.oracle_turn(key);
        self.oracle.keys.get(key).is_some_and(|turn| turn.holder == Some(grant) && !turn.released)
    }

    /// The section no longer waits for the key, or gives it back.
    pub(crate) fn oracle_leave(&mut self, grant: GrantId, key: &Key) {
        if let Some(turn) = self.oracle.keys.get_mut(key) {
            turn.queue.retain(|(queued, _)| *queued != grant);
            if turn.holder == Some(grant) {
                turn.released = true;
            }
        }
        self.oracle_turn(key);
    }

    /// The same, as soon as the process of this host runs: one that stands still lets nothing go.
    pub(crate) fn oracle_leave_running(&mut self, host: HostId, grant: GrantId, key: &Key) {
        if self.process(host).runs() {
            self.oracle_leave(grant, key);
        } else {
            self.oracle.leaving.push((host, grant, key.clone()));
        }
    }

    /// The process of this host runs again: what it was to give back meanwhile it does.
    pub(in crate::world) fn oracle_resume(&mut self, host: HostId) {
        if self.oracle.leaving.is_empty() || !self.process(host).runs() {
            return;
        }
        let all = std::mem::take(&mut self.oracle.leaving);
        let (now, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _, _)| *of == host);
        self.oracle.leaving = later;
        now.into_iter().for_each(|(_, grant, key)| self.oracle_leave(grant, &key));
    }

    /// A dead client waits for nothing and holds nothing, save what its messages can still do.
    pub(in crate::world) fn oracle_bury(&mut self, client: HostId) {
        let keys: Vec<Key> = self.oracle.keys.keys().cloned().collect();
        for key in keys {
            if let Some(turn) = self.oracle.keys.get_mut(&key) {
                turn.queue.retain(|(queued, _)| queued.client != client);
                if turn.holder.is_some_and(|holder| holder.client == client) {
                    turn.released = true;
                }
            }
            self.oracle_turn(&key);
        }
    }

    pub(in crate::world) fn bound_for_resource(&mut self, grant: GrantId) {
        *self.oracle.in_flight.entry(grant).or_default() += 1;
    }

    /// A segment of the section was read at the resource, or will never arrive.
    pub(in crate::world) fn no_longer_bound(&mut self, grant: GrantId) {
        if let Some(count) = self.oracle.in_flight.get_mut(&grant) {
            *count -= 1;
            if *count == 0 {
                self.oracle.in_flight.remove(&grant);
                let held = |(key, turn): (&Key, &Turn)| (turn.holder == Some(grant)).then(|| key.clone());
                let keys: Vec<Key> = self.oracle.keys.iter().filter_map(held).collect();
                keys.iter().for_each(|key| self.oracle_turn(key));
            }
        }
    }

    /// Gives the key to the next in the queue if the present grant has ended.
    fn oracle_turn(&mut self, key: &Key) {
        let Some(turn) = self.oracle.keys.get_mut(key) else { return };
        if turn.released && turn.holder.is_some_and(|holder| !self.oracle.in_flight.contains_key(&holder)) {
            turn.holder = None;
            turn.released = false;
        }
        if turn.holder.is_none()
            && let Some((next, waker)) = turn.queue.pop_front()
        {
            turn.holder = Some(next);
            waker.wake();
        }
    }
}
