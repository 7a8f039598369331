//! The state of a Sentinel on disk, in the words of `sentinel.conf`: what it watches, whom it knows, whom it voted for.

use std::fmt::Write as _;

use super::instance::Address;
use super::primary::Watch;
use super::state::Sentinel;

/// A text that can stand as one word in the file: not empty, and of printable characters without spaces.
pub(super) fn word(text: &[u8]) -> Option<&str> {
    let fit = !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(text).ok().filter(|_| fit)
}

impl Sentinel {
    /// The state as a file.
    #[must_use]
    pub fn config(&self) -> String {
        let mut text = format!("sentinel myid {}\nsentinel current-epoch {}\n", self.my_id, self.epoch);
        if !self.announced.host.is_empty() {
            text.push_str(&format!("sentinel announce-ip {}\n", self.announced.host));
        }
        if self.announced.port != 0 {
            text.push_str(&format!("sentinel announce-port {}\n", self.announced.port));
        }
        for id in self.primaries() {
            let name = &self.instance(id).name;
            let current = self.current_address(id);
            let primary = self.primary(id);
            let watch = &primary.watch;
            let mut line = |words: std::fmt::Arguments<'_>| {
                // A string takes all that is written to it.
                let _ = writeln!(text, "sentinel {words}");
            };
            line(format_args!("monitor {name} {} {} {}", current.host, current.port, watch.quorum));
            line(format_args!("down-after-milliseconds {name} {}", watch.down_after_ms));
            line(format_args!("failover-timeout {name} {}", watch.failover_timeout_ms));
            line(format_args!("parallel-syncs {name} {}", watch.parallel_syncs));
            line(format_args!("master-reboot-down-after-period {name} {}", watch.reboot_down_after_ms));
            if !watch.password.is_empty() {
                line(format_args!("auth-pass {name} {}", watch.password));
            }
            if !watch.user.is_empty() {
                line(format_args!("auth-user {name} {}", watch.user));
            }
            for (usual, other) in &watch.renamed {
                let (usual, other) = (String::from_utf8_lossy(usual), String::from_utf8_lossy(other));
                line(format_args!("rename-command {name} {usual} {other}"));
            }
            line(format_args!("config-epoch {name} {}", primary.config_epoch));
            line(format_args!("leader-epoch {name} {}", primary.leader_epoch));
            for (instance, _) in self.replicas_of(id) {
                // Once the promoted replica counts as the primary, the old primary counts as a replica.
                let place = &instance.address;
                let known = if place == current { &self.instance(id).address } else { place };
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
            self.restore_line(&words);
        }
    }

    fn restore_line(&mut self, words: &[&str]) {
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        let count = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
        let address = |at: usize| Address::new(words[at], u16::try_from(number(at + 1)).unwrap_or(0));
        match words {
            ["sentinel", "myid", id] => (*id).clone_into(&mut self.my_id),
            ["sentinel", "current-epoch", _] => self.epoch = number(2),
            ["sentinel", "announce-ip", host] => (*host).clone_into(&mut self.announced.host),
            ["sentinel", "announce-port", _] => self.announced.port = u16::try_from(number(2)).unwrap_or(0),
            ["sentinel", "monitor", name, _, _, _] => {
                self.monitor(name, address(3), Watch { quorum: count(5), ..Watch::default() });
            }
            ["sentinel", option, name, rest @ ..] => {
                let Some(id) = self.named(name.as_bytes()) else { return };
                let primary = self.primary_mut(id);
                let watch = &mut primary.watch;
                match (*option, rest) {
                    ("down-after-milliseconds", [_]) => watch.down_after_ms = number(3).cast_signed(),
                    ("failover-timeout", [_]) => watch.failover_timeout_ms = number(3).cast_signed(),
                    ("parallel-syncs", [_]) => watch.parallel_syncs = count(3),
                    ("master-reboot-down-after-period", [_]) => {
                        watch.reboot_down_after_ms = number(3).cast_signed();
                    }
                    ("auth-pass", [password]) => (*password).clone_into(&mut watch.password),
                    ("auth-user", [user]) => (*user).clone_into(&mut watch.user),
                    ("rename-command", [usual, other]) => {
                        watch.renamed.insert(usual.as_bytes().to_vec(), other.as_bytes().to_vec());
                    }
                    ("config-epoch", [_]) => primary.config_epoch = number(3),
                    ("leader-epoch", [_]) => primary.leader_epoch = number(3),
                    ("known-replica", [_, _]) => drop(self.add_replica(id, address(3))),
                    ("known-sentinel", [_, _, run_id]) => drop(self.add_sentinel(id, address(3), run_id)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
