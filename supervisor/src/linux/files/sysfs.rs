//! The files of `/sys` that a program finds: what runtimes ask about processors, memory and control groups, and no more.
//!
//! `/sys` has thousands of files of the machine: counters, addresses, and some that act when they are read (as root,
//! `/sys/class/zram-control/hot_add` makes a device). So what is not named here is not there.

/// Files, and directories with what is below them.
const SEEN: [&str; 9] = [
    "/sys/devices/system/clocksource",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/hugepages",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
];
/// Directories and files among them that count.
const COUNTING: [&str; 9] = [
    "cpufreq",
    "cpuidle",
    "meminfo",
    "microcode",
    "numastat",
    "power",
    "stats",
    "thermal_throttle",
    "vmstat",
];
/// The limits of a control group.
const LIMITS: [&str; 18] = [
    "cgroup.controllers",
    "cgroup.type",
    "cpu.cfs_period_us",
    "cpu.cfs_quota_us",
    "cpu.max",
    "cpu.shares",
    "cpu.weight",
    "cpuset.cpus",
    "cpuset.cpus.effective",
    "cpuset.mems",
    "cpuset.mems.effective",
    "memory.high",
    "memory.limit_in_bytes",
    "memory.max",
    "memory.memsw.limit_in_bytes",
    "memory.swap.max",
    "memory.use_hierarchy",
    "pids.max",
];
/// The beginnings of the names of a group's files, and its other files. All else is a group.
const FILES: [&str; 19] = [
    "blkio.",
    "cgroup.",
    "cpu.",
    "cpuacct.",
    "cpuset.",
    "devices.",
    "freezer.",
    "hugetlb.",
    "io.",
    "irq.",
    "memory.",
    "misc.",
    "net_cls.",
    "net_prio.",
    "notify_on_release",
    "pids.",
    "rdma.",
    "release_agent",
    "tasks",
];

/// True if a file or directory with this name below `/sys` is there.
pub(crate) fn is_seen(name: &str) -> bool {
    let below = |name: &str, dir: &str| {
        name.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let counts = match name.strip_prefix("/sys/fs/cgroup/") {
        Some(rest) => {
            let file = rest.rsplit('/').next().unwrap_or_default();
            FILES.iter().any(|start| file.starts_with(start)) && !LIMITS.contains(&file)
        }
        None => name.split('/').any(|part| COUNTING.contains(&part)),
    };
    // The directories on the way to a file can be listed.
    !counts && SEEN.iter().any(|&seen| below(name, seen) || below(seen, name))
}

#[cfg(test)]
mod tests {
    use super::is_seen;

    #[test]
    fn what_is_not_named_is_not_there() {
        for name in [
            "/sys",
            "/sys/devices/system",
            "/sys/devices/system/cpu/online",
            "/sys/devices/system/cpu/cpu0/cache/index0/size",
            "/sys/devices/system/node/node0/cpumap",
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/system.slice/cpu.max",
            "/sys/fs/cgroup/memory/power",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ] {
            assert!(is_seen(name), "{name}");
        }
        for name in [
            "/sys/class/net/eth0/address",
            "/sys/class/zram-control/hot_add",
            "/sys/devices/pci0000:00/0000:00:03.0/virtio1/net/eth0/address",
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/usage",
            "/sys/devices/system/node/node0/numastat",
            "/sys/fs/cgroup/cpu.stat",
            "/sys/fs/cgroup/a/memory.current",
            "/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu",
            "/sys/fs/cgroup/a/tasks",
            "/sys/kernel/uevent_seqnum",
            "/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans",
            "/system",
        ] {
            assert!(!is_seen(name), "{name}");
        }
    }
}
