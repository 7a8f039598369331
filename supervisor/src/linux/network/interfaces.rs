//! The network interfaces of a simulated host: `lo` and `eth0`, whatever the machine has.
//!
//! Programs ask for them by `ioctl` on any socket (the JVM, netty) or by netlink (the C library's `getifaddrs`, Mono, Go).

use std::net::Ipv4Addr;

use rustix::io::Errno;

use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;

/// The size of `struct ifreq`: a name, and as much again and a half for what is asked.
const REQUEST: usize = 40;
/// Where in a `struct ifreq` the answer is.
const VALUE: usize = libc::IFNAMSIZ;

/// One interface.
pub(crate) struct Interface {
    pub(crate) name: &'static str,
    pub(crate) index: i32,
    /// `ARPHRD_LOOPBACK` or `ARPHRD_ETHER`.
    pub(crate) kind: u16,
    pub(crate) flags: u32,
    pub(crate) hardware: [u8; 6],
    pub(crate) mtu: u32,
    pub(crate) address: Ipv4Addr,
    pub(crate) broadcast: Option<Ipv4Addr>,
}

/// Bits of the network in an address: a world has at most one network of the first class.
pub(crate) const PREFIX: u8 = 8;

/// Those of the host with this address.
pub(crate) fn interfaces(address: Ipv4Addr) -> [Interface; 2] {
    let [a, b, c, d] = address.octets();
    let running = libc::IFF_UP | libc::IFF_RUNNING | 1 << 16;
    [
        Interface {
            name: "lo",
            index: 1,
            kind: libc::ARPHRD_LOOPBACK,
            flags: (running | libc::IFF_LOOPBACK) as u32,
            hardware: [0; 6],
            mtu: 65_536,
            address: Ipv4Addr::LOCALHOST,
            broadcast: None,
        },
        Interface {
            name: "eth0",
            index: 2,
            kind: libc::ARPHRD_ETHER,
            flags: (running | libc::IFF_BROADCAST | libc::IFF_MULTICAST) as u32,
            // An address that its owner administers.
            hardware: [2, 0, a, b, c, d],
            mtu: 1500,
            address,
            broadcast: Some(Ipv4Addr::new(a, 255, 255, 255)),
        },
    ]
}

/// An address as a `sockaddr`.
fn socket_address(address: Ipv4Addr) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<libc::sockaddr_in>()];
    bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    bytes[4..8].copy_from_slice(&address.octets());
    bytes
}

/// The answer to a question about an interface; none if the command is no such question.
fn answer(interface: &Interface, command: u64) -> Option<Vec<u8>> {
    Some(match command {
        libc::SIOCGIFFLAGS => (interface.flags as u16).to_ne_bytes().to_vec(),
        libc::SIOCGIFADDR | libc::SIOCGIFDSTADDR => socket_address(interface.address),
        libc::SIOCGIFBRDADDR => socket_address(interface.broadcast.unwrap_or(Ipv4Addr::UNSPECIFIED)),
        libc::SIOCGIFNETMASK => socket_address(Ipv4Addr::from(!0 << (32 - PREFIX))),
        libc::SIOCGIFMETRIC => 0i32.to_ne_bytes().to_vec(),
        libc::SIOCGIFMTU => interface.mtu.to_ne_bytes().to_vec(),
        libc::SIOCGIFHWADDR => [interface.kind.to_ne_bytes().as_slice(), &interface.hardware].concat(),
        libc::SIOCGIFINDEX => interface.index.to_ne_bytes().to_vec(),
        libc::SIOCGIFTXQLEN => 1000i32.to_ne_bytes().to_vec(),
        _ => return None,
    })
}

fn named(name: &str) -> [u8; VALUE] {
    let mut bytes = [0; VALUE];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

/// `ioctl` about the interfaces of the host with this address.
pub(crate) fn ask_interface(ctx: Ctx<'_>, host: Ipv4Addr) -> Result<Answer, Errno> {
    let (caller, notice) = (ctx.caller(), ctx.notice);
    caller.file(notice.int(0))?;
    let memory = caller.memory();
    let (command, at) = (notice.arg(1) & 0xffff_ffff, notice.arg(2));
    let all = interfaces(host);
    if command == libc::SIOCGIFCONF {
        let (room, list) = (memory.u32(at)? as usize, memory.u64(at + 8)?);
        let mut bytes = Vec::new();
        for interface in &all {
            let mut entry = [0; REQUEST];
            entry[..VALUE].copy_from_slice(&named(interface.name));
            let address = socket_address(interface.address);
            entry[VALUE..VALUE + address.len()].copy_from_slice(&address);
            bytes.extend(entry);
        }
        if list != 0 {
            bytes.truncate(room / REQUEST * REQUEST);
            memory.write(list, &bytes)?;
        }
        memory.write(at, &(bytes.len() as u32).to_ne_bytes())?;
        return Ok(Answer::Value(0));
    }
    let request = memory.read(at, REQUEST)?;
    if command == libc::SIOCGIFNAME {
        let index = i32::from_ne_bytes(request[VALUE..VALUE + 4].try_into().expect("four bytes"));
        let interface = all.iter().find(|interface| interface.index == index).ok_or(Errno::NODEV)?;
        memory.write(at, &named(interface.name))?;
        return Ok(Answer::Value(0));
    }
    let name = request[..VALUE].split(|&byte| byte == 0).next().unwrap_or_default();
    let interface = all.iter().find(|interface| interface.name.as_bytes() == name).ok_or(Errno::NODEV)?;
    // Whatever else is asked or set has no place on a simulated host.
    let bytes = answer(interface, command).ok_or(Errno::OPNOTSUPP)?;
    memory.write(at + VALUE as u64, &bytes)?;
    Ok(Answer::Value(0))
}
