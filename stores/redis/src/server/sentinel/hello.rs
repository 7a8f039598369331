//! Greetings: how Sentinels find each other, and how a failover becomes known.
//!
//! Every two seconds a Sentinel publishes on all servers that it knows who it is, and where it thinks the primary is
//! since which epoch. The highest epoch is right.
//!
//! Source: `sentinelSendHello` and `sentinelProcessHelloMessage` of `sentinel.c`.

use std::fmt::Write as _;

use bstr::ByteSlice as _;

use super::ids::InstanceId;
use super::instance::{Address, Awaited, Instance};
use super::state::Sentinel;
use super::watch::HELLO;
use crate::protocol::resp::Reply;

/// About as long as a greeting is.
const GREETING_LEN: usize = 128;

impl Sentinel {
    /// Publishes who this Sentinel is, and where the primary.
    pub(super) fn greet(&mut self, id: InstanceId) {
        let instance = self.instance(id);
        let primary = instance.primary;
        let Address { host, port } = self.current_address(primary);
        let mut greeting = String::with_capacity(GREETING_LEN);
        // A string takes whatever is written to it.
        let _ = write!(
            greeting,
            "{},{},{},{},{},{host},{port},{}",
            if self.announced.host.is_empty() { &self.address.host } else { &self.announced.host },
            if self.announced.port == 0 { self.address.port } else { self.announced.port },
            self.my_id,
            self.epoch,
            self.instance(primary).name,
            self.primary(primary).config_epoch,
        );
        self.command(id, &[b"PUBLISH", HELLO, greeting.as_bytes()], Awaited::Greeting);
    }

    /// Has the next tick greet everybody.
    pub(super) fn greet_soon(&mut self, primary: InstanceId) {
        let period = self.periods.hello;
        for id in self.of(primary).into_iter().chain([primary]) {
            self.instance_mut(id).greeted -= period + 1;
        }
    }

    /// Something has come over a subscription.
    pub(super) fn hear(&mut self, message: &Reply) {
        let (Reply::Array(parts) | Reply::Push(parts)) = message else { return };
        if let [Reply::Bulk(kind), Reply::Bulk(_), Reply::Bulk(greeting)] = &parts[..]
            && kind == b"message"
        {
            self.hear_greeting(&greeting.to_str_lossy());
        }
    }

    /// Another Sentinel greets.
    pub(super) fn hear_greeting(&mut self, greeting: &str) {
        let now = self.now;
        let mut peers = self.instances.values_mut().filter_map(Instance::peer_mut);
        if let Some(peer) = peers.find(|peer| peer.greeting.as_deref() == Some(greeting)) {
            // Nothing of it is new.
            peer.hello = now;
            return;
        }
        let fields: Vec<&str> = greeting.split(',').collect();
        let [host, port, run_id, epoch, name, primary_host, primary_port, config_epoch] = fields[..] else {
            return;
        };
        if run_id == self.my_id {
            return;
        }
        let (Some(address), Some(claimed)) = (
            Address::parse(host.as_bytes(), port.as_bytes()),
            Address::parse(primary_host.as_bytes(), primary_port.as_bytes()),
        ) else {
            return;
        };
        let (Ok(epoch), Ok(config_epoch)) = (epoch.parse::<u64>(), config_epoch.parse::<u64>()) else {
            return;
        };
        let Some(primary) = self.named(name.as_bytes()) else { return };
        let sender = self.meet(primary, address, run_id);
        self.learn_epoch(epoch);
        if self.primary(primary).config_epoch < config_epoch {
            self.primary_mut(primary).config_epoch = config_epoch;
            if self.instance(primary).address != claimed {
                self.event("+config-update-from", sender, "");
                self.switch(primary, claimed);
            }
        }
        if let Some(peer) = self.instances.get_mut(&sender).and_then(Instance::peer_mut) {
            peer.hello = now;
            peer.greeting = Some(greeting.to_owned());
        }
    }

    /// The Sentinel of this address and identifier; a new one if it is not known, in place of one with the same
    /// identifier elsewhere.
    fn meet(&mut self, primary: InstanceId, address: Address, run_id: &str) -> InstanceId {
        let same = self.sentinels_of(primary).find(|(instance, _)| instance.run_id == run_id);
        match same.map(|(instance, _)| (instance.id, instance.address == address)) {
            Some((id, true)) => id,
            Some((old, false)) => {
                self.remove(old);
                let moved = format!(" ip {} port {} for {run_id}", address.host, address.port);
                self.event("+sentinel-address-switch", primary, &moved);
                let id = self.add_sentinel(primary, address, run_id);
                self.save();
                id
            }
            None => {
                let other = self.sentinels_of(primary).find(|(instance, _)| instance.address == address);
                if let Some((other, known)) =
                    other.map(|(instance, _)| (instance.id, instance.run_id.clone()))
                {
                    // Another identifier at a known address: the one before is not there any more.
                    self.event("+sentinel-invalid-addr", other, "");
                    self.forget_sentinel(&known);
                }
                let id = self.add_sentinel(primary, address, run_id);
                self.event("+sentinel", id, "");
                self.save();
                id
            }
        }
    }

    /// Forgets a Sentinel wherever it was known.
    fn forget_sentinel(&mut self, run_id: &str) {
        let gone = self.instances.values().filter(|other| other.is_sentinel() && other.run_id == run_id);
        let gone: Vec<InstanceId> = gone.map(|instance| instance.id).collect();
        for id in gone {
            self.remove(id);
        }
    }
}
