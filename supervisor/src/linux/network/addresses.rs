//! Addresses of IPv4, as programs pass and receive them.

use std::net::{Ipv4Addr, SocketAddrV4};

use rustix::io::Errno;

use crate::linux::kernel::notify::Notice;
use crate::linux::state::table::Caller;

/// An IPv4 address as the program passes it.
fn ipv4(bytes: &[u8]) -> Option<SocketAddrV4> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let rest: [u8; 6] = bytes.get(2..8)?.try_into().ok()?;
    let [high, low, a, b, c, d] = rest;
    (i32::from(family) == libc::AF_INET)
        .then(|| SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])))
}

/// The address in the arguments of `connect` and `bind`; none for another family than IPv4.
pub(crate) fn address(caller: Caller<'_>, notice: &Notice) -> Result<(Option<SocketAddrV4>, Vec<u8>), Errno> {
    let length = usize::try_from(notice.int(2)).map_err(|_| Errno::INVAL)?.min(128);
    let bytes = caller.memory().read(notice.arg(1), length)?;
    Ok((ipv4(&bytes), bytes))
}

/// Writes an address and its length, as far as there is room.
pub(crate) fn write_address(
    caller: Caller<'_>,
    at: u64,
    length_at: u64,
    address: Option<SocketAddrV4>,
) -> Result<(), Errno> {
    if at == 0 || length_at == 0 {
        return Ok(());
    }
    let memory = caller.memory();
    let address = address.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let mut bytes = [0; size_of::<libc::sockaddr_in>()];
    bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    bytes[4..8].copy_from_slice(&address.ip().octets());
    let room = memory.u32(length_at)? as usize;
    memory.write(at, &bytes[..room.min(bytes.len())])?;
    memory.write(length_at, &(bytes.len() as u32).to_ne_bytes())
}
