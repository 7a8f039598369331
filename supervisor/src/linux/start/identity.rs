//! The user and the group of a program in a user namespace of its own: the same as outside.

use std::{
    fs, io,
    os::fd::{AsRawFd, OwnedFd},
};

use crate::linux::kernel::text::{status_field, text_of};

/// The number of the process behind a pidfd.
pub(super) fn number_of(process: &OwnedFd) -> io::Result<u32> {
    let info = text_of(format!("/proc/self/fdinfo/{}", process.as_raw_fd()))?;
    status_field(&info, "Pid").ok_or_else(|| io::Error::other("a process without a number"))
}

/// Maps the numbers of users and groups: a user's own ones, or all that root has.
pub(super) fn map_identity(process: &OwnedFd, is_user: bool) -> io::Result<()> {
    let dir = format!("/proc/{}", number_of(process)?);
    if is_user {
        fs::write(format!("{dir}/setgroups"), "deny")?;
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        fs::write(format!("{dir}/uid_map"), format!("{user} {user} 1"))?;
        return fs::write(format!("{dir}/gid_map"), format!("{group} {group} 1"));
    }
    for map in ["uid_map", "gid_map"] {
        let own = text_of(format!("/proc/self/{map}"))?;
        let same: String = own.lines().filter_map(same).collect();
        fs::write(format!("{dir}/{map}"), same)?;
    }
    Ok(())
}

/// A range of numbers that are the same inside and outside, from a line of a map.
fn same(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (first, _, count) = (words.next()?, words.next()?, words.next()?);
    Some(format!("{first} {first} {count}\n"))
}
