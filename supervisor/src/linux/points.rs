//! At which calls the driver is told first, so that a pause can strike there.

use syscalls::Sysno;

use super::{network::Network, notify::Notice, table::Caller};
use crate::{ClockReads, What};

/// What the driver is told before a call is answered; nothing of most calls.
pub(crate) fn point(
    network: &Network,
    clock_reads: ClockReads,
    caller: Caller<'_>,
    notice: &Notice,
) -> Option<What> {
    let told = clock_reads == ClockReads::Notified;
    Some(match notice.call() {
        Sysno::connect if network.is_of_datagrams(caller, notice) => return None,
        Sysno::connect => What::Connect,
        Sysno::accept | Sysno::accept4 => What::Accept,
        Sysno::nanosleep | Sysno::clock_nanosleep => What::Sleep,
        Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time if told => What::ColourOptions,
        Sysno::write | Sysno::writev if matches!(notice.int(0), 1 | 2) => What::Print,
        Sysno::write | Sysno::writev | Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg if told => What::Send,
        Sysno::poll if notice.int(2) != 0 => What::Wait,
        Sysno::epoll_wait | Sysno::epoll_pwait if notice.int(3) != 0 => What::Wait,
        Sysno::ppoll | Sysno::select | Sysno::pselect6 | Sysno::epoll_pwait2 => What::Wait,
        Sysno::recvfrom | Sysno::recvmsg => What::Read,
        _ => return None,
    })
}
