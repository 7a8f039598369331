//! The environment check of this kernel and this container.

use super::start::permission::{is_administrator, setting};
use crate::{Clock, Group, Setup, Status, Step, finding::Finding};

/// The kernel's version as two numbers.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

pub(crate) fn findings() -> Vec<Finding> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let kernel = version(&release).unwrap_or_default();
    let newer = |least: (u32, u32)| kernel >= least;
    let action = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: asks about an action; the pointer is to a local.
    let notifies =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) }
            == 0;
    let scope = setting("/proc/sys/kernel/yama/ptrace_scope");
    let userns = setting("/proc/sys/kernel/unprivileged_userns_clone");
    let apparmor = setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    let is_root = is_administrator();
    let restricts = !is_root && (userns.as_deref() == Some("0") || apparmor.as_deref() == Some("1"));
    let command_line = setting("/proc/cmdline").unwrap_or_default();
    let locked = command_line.contains("proc_mem.force_override=never")
        || command_line.contains("proc_mem.force_override=ptrace");
    let sample = run_sample();
    vec![
        Finding {
            what: "kernel 5.14 or later",
            is_there: newer((5, 14)),
            is_needed: true,
            seen: release.clone(),
            lost: "answers with descriptors, and so programs in virtual time",
            remedy: "use a newer kernel",
        },
        Finding {
            what: "seccomp user notification",
            is_there: notifies,
            is_needed: true,
            seen: if notifies { "offered" } else { "not offered" }.to_owned(),
            lost: "programs in virtual time",
            remedy: "in a container, allow the call seccomp; else use a kernel with CONFIG_SECCOMP_FILTER",
        },
        Finding {
            what: "kernel 5.19 or later",
            is_there: newer((5, 19)),
            is_needed: false,
            seen: release.clone(),
            lost: "signals that wait until a call is answered: programs that signal themselves may differ from run to run",
            remedy: "use a newer kernel",
        },
        Finding {
            what: "kernel 6.6 or later",
            is_there: newer((6, 6)),
            is_needed: false,
            seen: release,
            lost: "the handing over of the processor at each call: runs take up to ten times as long",
            remedy: "use a newer kernel",
        },
        Finding {
            what: "the memory of own processes",
            is_there: !matches!(scope.as_deref(), Some("2" | "3")) && !locked,
            is_needed: true,
            seen: format!("yama's ptrace_scope {}", scope.as_deref().unwrap_or("absent")),
            lost: "programs in virtual time: their arguments cannot be read, nor their clocks replaced",
            remedy: "sysctl kernel.yama.ptrace_scope=1, and no proc_mem.force_override on the kernel's command line",
        },
        Finding {
            what: "namespaces of processes",
            is_there: !restricts,
            is_needed: true,
            seen: if is_root { "as root" } else { "as a user" }.to_owned(),
            lost: "programs in virtual time: processes would see numbers that differ from run to run",
            remedy: "sysctl kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0; \
                     in a container, docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
        },
        Finding {
            what: "a program in virtual time",
            is_there: sample.is_ok(),
            is_needed: true,
            seen: sample.err().unwrap_or_else(|| "ran, and slept an hour in no time".to_owned()),
            lost: "all of it",
            remedy: "see the findings above",
        },
    ]
}

/// Runs `sleep 3600`.
fn run_sample() -> Result<(), String> {
    let failed = |what: &str, error: &dyn std::error::Error| format!("failed to {what}: {error}");
    let setup = Setup::new(["sleep", "3600"], "sample", std::net::Ipv4Addr::LOCALHOST, 0);
    let mut group = Group::start(&setup).map_err(|error| failed("start", &error))?;
    let mut clock = Clock { monotonic_ns: 1_000_000_000, wall_ns: 1_000_000_000 };
    loop {
        match group.step(clock).map_err(|error| failed("step", &error))? {
            Step::Waits { until_ns: Some(until) } => clock.monotonic_ns = clock.monotonic_ns.max(until),
            Step::Waits { until_ns: None } => return Err("it waits for nothing".to_owned()),
            Step::Exited(Status::Code(0)) => return Ok(()),
            Step::Exited(status) => return Err(status.to_string()),
            _ => {}
        }
    }
}
