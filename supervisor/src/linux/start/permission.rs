//! The setting that forbids programs in virtual time on a machine or in a container, and the command that allows them.

use crate::linux::kernel::text::text_of;
use std::io;

/// Namespaces that a program cannot be without, as the kernel's limits name them.
const NEEDED: [&str; 4] = ["user", "pid", "mnt", "uts"];
/// The number of `CAP_SYS_ADMIN`.
const ADMINISTRATOR: u32 = linux_raw_sys::general::CAP_SYS_ADMIN;

/// The content of a setting of the kernel; none if this kernel does not have it.
pub(crate) fn setting(file: &str) -> Option<String> {
    Some(text_of(file).ok()?.trim().to_owned())
}

/// True if this process may make namespaces without one of users around them.
pub(crate) fn is_administrator() -> bool {
    let status = text_of("/proc/self/status").unwrap_or_default();
    let privileges = field(&status, "CapEff").and_then(|set| u64::from_str_radix(set, 16).ok());
    privileges.unwrap_or_default() >> ADMINISTRATOR & 1 == 1
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// The settings that can forbid namespaces.
#[derive(Default)]
struct Settings {
    is_administrator: bool,
    /// The first kind of namespaces of which there may be none.
    none_of: Option<&'static str>,
    /// `kernel.unprivileged_userns_clone`, a setting of Debian's kernels.
    unprivileged: Option<String>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, a setting of Ubuntu's kernels.
    apparmor: Option<String>,
    /// A filter of system calls holds for this process.
    is_filtered: bool,
    /// The AppArmor profile of this process.
    profile: Option<String>,
}

impl Settings {
    fn read() -> Self {
        let is_zero = |kind: &&str| {
            setting(&format!("/proc/sys/user/max_{kind}_namespaces")).is_some_and(|most| most == "0")
        };
        Self {
            is_administrator: is_administrator(),
            none_of: NEEDED.into_iter().find(|kind| is_zero(kind)),
            unprivileged: setting("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            is_filtered: setting("/proc/self/status")
                .is_some_and(|status| field(&status, "Seccomp") == Some("2")),
            profile: setting("/proc/self/attr/current"),
        }
    }

    /// The command that lifts the restriction; none if none of these settings restricts.
    fn remedy(&self) -> Option<String> {
        let sysctl = |setting: &str| Some(format!("allow it with `sudo sysctl -w {setting}`"));
        if let Some(kind) = self.none_of {
            return sysctl(&format!("user.max_{kind}_namespaces=10000"));
        }
        if self.is_filtered || self.profile.as_deref().is_some_and(|profile| profile.starts_with("docker")) {
            return Some(
                "in a container, allow it with `docker run --security-opt seccomp=unconfined --security-opt \
                 apparmor=unconfined ...`"
                    .to_owned(),
            );
        }
        if self.is_administrator {
            return None;
        }
        match (self.unprivileged.as_deref(), self.apparmor.as_deref()) {
            (Some("0"), _) => sysctl("kernel.unprivileged_userns_clone=1"),
            (_, Some("1")) => sysctl("kernel.apparmor_restrict_unprivileged_userns=0"),
            _ => None,
        }
    }
}

/// The command that allows what the kernel has refused with this error.
pub(crate) fn remedy(error: &io::Error) -> Option<String> {
    let refusals = [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::ENOSPC, libc::EUSERS];
    let is_refused = error.raw_os_error().is_some_and(|errno| refusals.contains(&errno));
    is_refused.then(|| Settings::read().remedy()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_its_command() {
        let set = |value: &str| Some(value.to_owned());
        let cases = [
            (Settings::default(), None),
            (
                Settings { none_of: Some("user"), ..Settings::default() },
                Some("sysctl -w user.max_user_namespaces=10000"),
            ),
            (
                Settings { unprivileged: set("0"), ..Settings::default() },
                Some("sysctl -w kernel.unprivileged_userns_clone=1"),
            ),
            (
                Settings { apparmor: set("1"), ..Settings::default() },
                Some("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
            ),
            (Settings { apparmor: set("1"), is_administrator: true, ..Settings::default() }, None),
            (
                Settings { is_filtered: true, ..Settings::default() },
                Some("docker run --security-opt seccomp=unconfined"),
            ),
            (
                Settings { profile: set("docker-default (enforce)"), ..Settings::default() },
                Some("--security-opt apparmor=unconfined"),
            ),
        ];
        for (settings, words) in cases {
            let remedy = settings.remedy();
            assert_eq!(remedy.is_some(), words.is_some(), "{remedy:?}");
            assert!(remedy.unwrap_or_default().contains(words.unwrap_or_default()));
        }
        assert_eq!(remedy(&io::ErrorKind::NotFound.into()), None);
    }
}
