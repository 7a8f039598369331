//! What a Sentinel keeps on disk, in the words of `sentinel.conf`: what it watches, whom it knows, whom it voted for.

use std::fmt::Write as _;

use super::instance::Address;
use super::primary::Watch;
use super::state::Sentinel;

impl Sentinel {
    /// The state as a file.
    #[must_use]
    pub fn config(&self) -> String {
        let mut text = format!("sentinel myid {}\nsentinel current-epoch {}\n", self.my_id, self.epoch);
        for id in self.primaries() {
            let name = &self.instance(id).name;
            let Address { host, port } = self.current_address(id);
            let primary = self.primary(id);
            let Watch { quorum, down_after_ms, failover_timeout_ms, parallel_syncs } = &primary.watch;
            let mut line = |words: std::fmt::Arguments<'_>| {
                // A string takes all that is written to it.
                let _ = writeln!(text, "sentinel {words}");
            };
            line(format_args!("monitor {name} {host} {port} {quorum}"));
            line(format_args!("down-after-milliseconds {name} {down_after_ms}"));
            line(format_args!("failover-timeout {name} {failover_timeout_ms}"));
            line(format_args!("parallel-syncs {name} {parallel_syncs}"));
            line(format_args!("config-epoch {name} {}", primary.config_epoch));
            line(format_args!("leader-epoch {name} {}", primary.leader_epoch));
            let current = self.current_address(id);
            for (instance, _) in self.replicas_of(id) {
                // During the switch, the old primary is a replica already.
                let known =
                    if instance.address == *current { &self.instance(id).address } else { &instance.address };
                line(format_args!("known-replica {name} {} {}", known.host, known.port));
            }
            for (instance, _) in self.sentinels_of(id) {
                let Address { host, port } = &instance.address;
                line(format_args!("known-sentinel {name} {host} {port} {}", instance.run_id));
            }
        }
        text
    }

    /// Takes up the state of a file. What is not understood is skipped.
    pub fn restore(&mut self, config: &str) {
        for line in config.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
            let address = |at: usize| Address::new(words[at], u16::try_from(number(at + 1)).unwrap_or(0));
            let primary = words.get(2).and_then(|name| self.named(name.as_bytes()));
            match (&words[..], primary) {
                (["sentinel", "myid", id], _) => (*id).clone_into(&mut self.my_id),
                (["sentinel", "current-epoch", _], _) => self.epoch = number(2),
                (["sentinel", "monitor", name, _, _, _], None) => {
                    let quorum = usize::try_from(number(5)).unwrap_or(usize::MAX);
                    self.monitor(name, address(3), Watch { quorum, ..Watch::default() });
                }
                (["sentinel", "down-after-milliseconds", _, _], Some(id)) => {
                    self.primary_mut(id).watch.down_after_ms = number(3).cast_signed();
                }
                (["sentinel", "failover-timeout", _, _], Some(id)) => {
                    self.primary_mut(id).watch.failover_timeout_ms = number(3).cast_signed();
                }
                (["sentinel", "parallel-syncs", _, _], Some(id)) => {
                    self.primary_mut(id).watch.parallel_syncs = usize::try_from(number(3)).unwrap_or(1);
                }
                (["sentinel", "config-epoch", _, _], Some(id)) => {
                    self.primary_mut(id).config_epoch = number(3)
                }
                (["sentinel", "leader-epoch", _, _], Some(id)) => {
                    self.primary_mut(id).leader_epoch = number(3)
                }
                (["sentinel", "known-replica", _, _, _], Some(id)) => {
                    self.add_replica(id, address(3));
                }
                (["sentinel", "known-sentinel", _, _, _, run_id], Some(id)) => {
                    self.add_sentinel(id, address(3), run_id);
                }
                _ => {}
            }
        }
    }
}
