//! The network of a world, as its programs see it: each host has an address, by its place among them.

use std::net::Ipv4Addr;

use picklock_model::time::EPOCH_NS;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_supervisor::{Clock, ConnectError, Setup};

use crate::sources;

/// Where the first host is.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The clocks of a program while it starts up, whatever the seed, so that a program that has started can be copied: its machine has
/// been on for a while, and its wall clock is a little before every world begins. The wall clock is that of its host from its first step on.
const START_UP: Clock = Clock { monotonic_ns: 1_000_000_000_000, wall_ns: EPOCH_NS - 10_000_000_000 };

/// The address of the host at this place.
pub(crate) fn address(place: usize) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(FIRST).saturating_add(place as u32))
}

/// The place of the host with this address.
pub(crate) fn place(address: Ipv4Addr) -> Option<usize> {
    u32::from(address).checked_sub(u32::from(FIRST)).map(|place| place as usize)
}

/// A program of this host, among the others of its world.
pub(crate) fn setup(words: &[String], host: &Host) -> Setup {
    let (name, names) = (host.name(), HostDriver::of(host).host_names());
    let here = names.iter().position(|other| *other == name).unwrap_or_default();
    let mut setup = Setup::new(words, name, address(here), host.rng().below(u64::MAX));
    setup.clock = START_UP;
    setup.sources = sources::of(words);
    setup.hosts = names.into_iter().enumerate().map(|(at, name)| (name, address(at))).collect();
    setup.hosts.remove(here);
    setup
}

/// The error of a failed connect, as the program gets it.
pub(crate) fn refusal(kind: std::io::ErrorKind) -> ConnectError {
    match kind {
        std::io::ErrorKind::ConnectionRefused => ConnectError::Refused,
        std::io::ErrorKind::TimedOut => ConnectError::TimedOut,
        std::io::ErrorKind::ConnectionReset => ConnectError::Reset,
        _ => ConnectError::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_an_address_of_its_own() {
        for at in [0, 1, 253, 254, 255, 70_000] {
            assert_eq!(place(address(at)), Some(at));
        }
        assert_eq!(address(300), Ipv4Addr::new(10, 0, 1, 45));
        assert_eq!(place(Ipv4Addr::LOCALHOST), Some(0x7500_0000));
        assert_eq!(place(Ipv4Addr::new(9, 9, 9, 9)), None);
    }
}
