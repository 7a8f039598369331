//! Sockets as programs ask about them: their options, the interfaces of the host, who listens.

use crate::driver::{Story, compiled, run, runtime, setup};

/// The story of a script of Python, the same each time.
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
    let expected = ["[0, 7200, 1460] 64", "1 30 5000 16 1 8192 1 b'cubic'", "Protocol not available"];
    assert_eq!(story.printed(), expected, "{story:#?}");
    let said = story.steps.iter().filter(|step| step.contains("UserTimeout")).count();
    assert_eq!(said, 1, "{story:#?}");
}

#[test]
fn a_user_timeout_is_reported_before_what_is_sent_once_it_is_connected() {
    let script = "import time
from socket import *
conn = socket()
conn.setsockopt(IPPROTO_TCP, TCP_USER_TIMEOUT, 1500)
conn.connect(('store', 6379))
conn.send(b'PING')
time.sleep(0.1)
conn.setsockopt(IPPROTO_TCP, TCP_USER_TIMEOUT, 0)
conn.send(b'PING')";
    let Some(story) = python(script) else { return };
    let shown = ["Connect {", "timeout: Some(1.5s)", "sent PING", "timeout: None", "sent PING"];
    let steps: Vec<&String> = story
        .steps
        .iter()
        .filter(|step| ["Connect { socket", "UserTimeout", "sent"].iter().any(|kind| step.contains(kind)))
        .collect();
    assert_eq!(steps.len(), shown.len(), "{story:#?}");
    assert!(steps.iter().zip(shown).all(|(step, part)| step.contains(part)), "{steps:#?}");
}

/// Prints what the C library makes of the netlink answers.
const INTERFACES: &str = r#"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
int main(void) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) { perror("getifaddrs"); return 1; }
    for (struct ifaddrs *one = all; one; one = one->ifa_next) {
        char address[64] = "", mask[64] = "";
        if (one->ifa_addr->sa_family == AF_INET) {
            inet_ntop(AF_INET, &((struct sockaddr_in *)one->ifa_addr)->sin_addr, address, sizeof address);
            inet_ntop(AF_INET, &((struct sockaddr_in *)one->ifa_netmask)->sin_addr, mask, sizeof mask);
        } else {
            unsigned char *bytes = ((struct sockaddr_ll *)one->ifa_addr)->sll_addr;
            sprintf(address, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]);
        }
        printf("%s %s %s %d\n", one->ifa_name, address, mask, (one->ifa_flags & IFF_UP) != 0);
    }
    struct addrinfo hints = { .ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM }, *found;
    printf("%d\n", getaddrinfo("store", "6379", &hints, &found));
}
"#;

#[test]
fn the_c_library_finds_the_interfaces_of_the_host() {
    let Some(program) = compiled("interfaces", INTERFACES) else { return };
    let setup = setup(&[&program], 1);
    let story = run(&setup, &[]);
    let expected = [
        "lo 00:00:00:00:00:00  1",
        "eth0 02:00:0a:00:00:01  1",
        "lo 127.0.0.1 255.0.0.0 1",
        "eth0 10.0.0.1 255.0.0.0 1",
        "0",
    ];
    assert_eq!(story.printed(), expected, "{story:#?}");
}

#[test]
fn interfaces_are_answered_on_a_datagram_socket_that_carries_nothing() {
    let script = "import fcntl, socket, struct, array
asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
room = array.array('B', bytes(400))
length, _ = struct.unpack('iL', fcntl.ioctl(asks, 0x8912, struct.pack('iL', 400, room.buffer_info()[0])))
names = room.tobytes()[:length]
print([(names[at:at + 16].rstrip(b'\\0').decode(), socket.inet_ntoa(names[at + 20:at + 24])) for at in range(0, length, 40)])
def ask(command, name): return fcntl.ioctl(asks, command, struct.pack('16s24x', name))[16:]
print(struct.unpack_from('i', ask(0x8933, b'eth0'))[0], struct.unpack_from('h', ask(0x8913, b'eth0'))[0] & 1, ask(0x8927, b'eth0')[2:8].hex(),
      socket.if_nameindex())
try: ask(0x8933, b'wlan0')
except OSError as error: print(error.strerror)
asks.connect(('store', 53))
print(asks.getsockname()[0], asks.getpeername())
for send in (lambda: asks.send(b'x'), lambda: asks.sendto(b'x', ('store', 53))):
    try: send()
    except ConnectionRefusedError: print('refused')";
    let Some(story) = python(script) else { return };
    let expected = [
        "[('lo', '127.0.0.1'), ('eth0', '10.0.0.1')]",
        "2 1 02000a000001 [(1, 'lo'), (2, 'eth0')]",
        "No such device",
        "10.0.0.1 ('10.0.0.9', 53)",
        "refused",
        "refused",
    ];
    assert_eq!(story.printed(), expected, "{story:#?}");
}

/// The same commands as the adapters of other languages, without a library.
const MONO: &str = r#"
using System;
using System.IO;
using System.Net.Sockets;
class Lock {
    static Stream store;
    static string Ask(params string[] words) {
        var line = "*" + words.Length + "\r\n";
        foreach (var word in words) line += "$" + word.Length + "\r\n" + word + "\r\n";
        var bytes = System.Text.Encoding.ASCII.GetBytes(line);
        store.Write(bytes, 0, bytes.Length);
        var answer = new byte[100];
        return System.Text.Encoding.ASCII.GetString(answer, 0, store.Read(answer, 0, answer.Length)).Trim();
    }
    static void Main() {
        store = new TcpClient("store", 6379).GetStream();
        for (string line; (line = Console.ReadLine()) != null;)
            Console.WriteLine(Ask("SET", line, "me", "NX", "PX", "1000") == "+OK" ? "granted" : "refused");
    }
}
"#;

#[test]
fn mono_resolves_names_and_takes_a_lock() {
    let (Some(compiler), Some(mono)) = (runtime(&["mcs"]), runtime(&["mono"])) else { return };
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (directory.join("lock.cs"), directory.join("lock.exe"));
    std::fs::write(&source, MONO).expect("write a program");
    let out = format!("-out:{}", program.display());
    let built =
        std::process::Command::new(compiler).arg(out).arg(&source).output().expect("run the compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let setup = setup(&[&mono, program.to_str().expect("a path of text")], 1);
    let story = run(&setup, &["lock:1", "lock:1"]);
    assert_eq!(story.printed(), ["granted", "refused"], "{story:#?}");
    let times = if std::env::var_os("PICKLOCK_NIGHTLY").is_some() { 20 } else { 3 };
    for _ in 1..times {
        let again = run(&setup, &["lock:1", "lock:1"]);
        let differs = story.steps.iter().zip(&again.steps).find(|(one, other)| one != other);
        assert_eq!(differs, None);
    }
}
