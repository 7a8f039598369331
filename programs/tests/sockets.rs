//! Sockets as programs ask about them: their options, the interfaces of the host, who listens.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[allow(dead_code, reason = "each test uses a part of it")]
mod driver;

use driver::{Story, run, runtime, setup};

/// What a script of Python did, the same each time.
fn python(script: &str) -> Option<Story> {
    let python = runtime(&["/usr/bin/python3", "python3"])?;
    let setup = setup(&[&python, "-S", "-c", script], 1);
    let story = run(&setup, &[]);
    assert_eq!(story.steps, run(&setup, &[]).steps);
    Some(story)
}

#[test]
fn an_option_that_was_set_is_read_back() {
    let script = "import socket
from socket import *
conn = create_connection(('store', 6379))
get = lambda level, name: conn.getsockopt(level, name)
print([get(IPPROTO_TCP, name) for name in (TCP_NODELAY, TCP_KEEPIDLE, TCP_MAXSEG)], get(IPPROTO_IP, IP_TTL))
for level, name, value in [(IPPROTO_TCP, TCP_NODELAY, 7), (IPPROTO_TCP, TCP_KEEPIDLE, 30), (IPPROTO_TCP, TCP_USER_TIMEOUT, 5000),
                           (IPPROTO_IP, IP_TOS, 16), (SOL_SOCKET, SO_KEEPALIVE, 1), (SOL_SOCKET, SO_SNDBUF, 4096)]:
    conn.setsockopt(level, name, value)
    print(get(level, name), end=' ')
print(conn.getsockopt(IPPROTO_TCP, TCP_INFO, 104)[0], conn.getsockopt(IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b'\\0'))
try: conn.setsockopt(IPPROTO_TCP, 36, 1)
except OSError as error: print(error.strerror)";
    let Some(story) = python(script) else { return };
    let told = ["[0, 7200, 1460] 64", "1 30 5000 16 1 8192 1 b'cubic'", "Protocol not available"];
    assert_eq!(story.printed(), told, "{story:#?}");
}
