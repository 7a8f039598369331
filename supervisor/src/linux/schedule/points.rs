//! The calls of which the driver is notified first, so that a pause can hit there.

use syscalls::Sysno;

use crate::linux::kernel::notify::Notice;
use crate::linux::network::families::Network;
use crate::linux::state::table::Caller;
use crate::{ClockReads, What};

/// The kind of a call of which the driver is notified before it is answered; none for most calls.
pub(crate) fn point(
    network: &Network,
    clock_reads: ClockReads,
    caller: Caller<'_>,
    notice: &Notice,
) -> Option<What> {
    let notified = clock_reads == ClockReads::Notified;
    Some(match notice.call() {
        Sysno::connect if network.is_of_datagrams(caller, notice) => return None,
        Sysno::connect => What::Connect,
        Sysno::accept | Sysno::accept4 => What::Accept,
        Sysno::nanosleep | Sysno::clock_nanosleep => What::Sleep,
        Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time if notified => What::ClockRead,
        Sysno::write | Sysno::writev if matches!(notice.int(0), 1 | 2) => What::Print,
        Sysno::write | Sysno::writev | Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg if notified => {
            What::Send
        }
        Sysno::poll if notice.int(2) != 0 => What::Wait,
        Sysno::epoll_wait | Sysno::epoll_pwait if notice.int(3) != 0 => What::Wait,
        Sysno::ppoll | Sysno::select | Sysno::pselect6 | Sysno::epoll_pwait2 => What::Wait,
        Sysno::recvfrom | Sysno::recvmsg => What::Read,
        _ => return None,
    })
}
