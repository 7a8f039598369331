//! Options of sockets: those that are set are read back, and only `TCP_USER_TIMEOUT` has an effect.
//!
//! The program's sockets are unix sockets, on which the kernel knows no options of TCP and of IP. Programs read back what they have set:
//! gRPC gives a connection up if `TCP_NODELAY` does not hold. So the supervisor keeps these for each socket. Options of `SOL_SOCKET` are
//! the kernel's, but for those that it refuses on a unix socket or grants by the machine's limits.

use std::collections::BTreeMap;
use std::time::Duration;

/// The size of a socket's buffers before the program sets them, as Linux reports it.
const BUFFERS: i32 = 212_992;

/// The options that were set on one socket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// By level and name.
    values: BTreeMap<(i32, i32), Vec<u8>>,
    /// True if `TCP_USER_TIMEOUT` was set and not reported yet.
    has_new_timeout: bool,
}

/// True if an option is of another protocol, or promises what a simulated connection does not do.
pub(crate) fn is_refused(level: i32, name: i32) -> bool {
    match level {
        libc::IPPROTO_TCP => matches!(
            name,
            libc::TCP_INQ
                | libc::TCP_ULP
                | libc::TCP_REPAIR
                | libc::TCP_ZEROCOPY_RECEIVE
                | libc::TCP_FASTOPEN_CONNECT
                | libc::TCP_MD5SIG
        ),
        libc::IPPROTO_IP | libc::SOL_SOCKET => false,
        _ => true,
    }
}

/// True if the supervisor keeps an option of `SOL_SOCKET` in place of the kernel.
pub(crate) fn is_kept(name: i32) -> bool {
    matches!(name, libc::SO_SNDBUF | libc::SO_RCVBUF | libc::SO_REUSEPORT)
}

/// True if an option is a switch, which is on or off and reads as one or zero.
fn is_switch(level: i32, name: i32) -> bool {
    match level {
        libc::IPPROTO_TCP => matches!(name, libc::TCP_NODELAY | libc::TCP_CORK | libc::TCP_QUICKACK),
        _ => level == libc::SOL_SOCKET && name == libc::SO_REUSEPORT,
    }
}

/// The value of an option before it was set, on a Linux with its usual settings.
fn default(level: i32, name: i32) -> Vec<u8> {
    let value: i32 = match (level, name) {
        (libc::SOL_SOCKET, libc::SO_SNDBUF | libc::SO_RCVBUF) => BUFFERS,
        (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => 1460,
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => 7200,
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => 75,
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => 9,
        (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => 6,
        (libc::IPPROTO_TCP, libc::TCP_LINGER2) => 60,
        (libc::IPPROTO_TCP, libc::TCP_QUICKACK) => 1,
        (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => return b"cubic\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
        (libc::IPPROTO_IP, libc::IP_TTL) => 64,
        (libc::IPPROTO_IP, libc::IP_MTU) => 1500,
        _ => 0,
    };
    value.to_ne_bytes().to_vec()
}

impl Options {
    pub(crate) fn get(&self, level: i32, name: i32) -> Vec<u8> {
        self.values.get(&(level, name)).cloned().unwrap_or_else(|| default(level, name))
    }

    pub(crate) fn set(&mut self, level: i32, name: i32, mut value: Vec<u8>) {
        if level == libc::SOL_SOCKET && matches!(name, libc::SO_SNDBUF | libc::SO_RCVBUF) {
            // The kernel takes half of a buffer for its own use, and reports twice of what was asked for.
            if let Ok(asked) = value.as_slice().try_into() {
                value =
                    i32::from_ne_bytes(asked).clamp(1024, BUFFERS).saturating_mul(2).to_ne_bytes().to_vec();
            }
        }
        if is_switch(level, name) {
            let on = value.iter().any(|&byte| byte != 0);
            value = i32::from(on).to_ne_bytes().to_vec();
        }
        self.has_new_timeout |= (level, name) == (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT);
        self.values.insert((level, name), value);
    }

    /// The `TCP_USER_TIMEOUT` that was set since the last call, in milliseconds for the program; zero is the default of the system.
    pub(crate) fn new_user_timeout(&mut self) -> Option<Option<Duration>> {
        if !std::mem::take(&mut self.has_new_timeout) {
            return None;
        }
        let value = self.get(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT);
        let milliseconds = value.as_slice().try_into().map_or(0, u32::from_ne_bytes);
        Some((milliseconds > 0).then(|| Duration::from_millis(u64::from(milliseconds))))
    }
}
