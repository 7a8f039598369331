//! The contents of files of a simulated host, by name: those of the machine differ from one to another, and from run to run.
//!
//! Of `/proc` and of the counters in `/sys` a program finds what is answered here, what is the same in each run, and no
//! more.

use rand_core::Rng;

use super::paths::Sight;
use super::sysfs::is_seen;
use crate::linux::kernel::text::text_of;
use crate::linux::start::apart::Apart;
use crate::linux::state::table::Table;
use crate::{Clock, Setup};

/// The outcome of a look into a file.
pub(crate) enum Answered {
    /// It says this.
    Text(String),
    /// It is not there.
    Absent,
    /// It is the machine's.
    Real,
}

/// Files and directories at the top of `/proc` that are the same in each run.
const STEADY: [&str; 8] =
    ["cgroups", "cmdline", "config.gz", "cpuinfo", "devices", "filesystems", "sys", "version"];

/// The files of processes and threads that count the machine's time or its memory.
const COUNTED: [&str; 18] = [
    "arch_status",
    "autogroup",
    "clear_refs",
    "io",
    "latency",
    "mountstats",
    "net/softnet_stat",
    "numa_maps",
    "oom_score",
    "pagemap",
    "sched",
    "schedstat",
    "smaps",
    "smaps_rollup",
    "stack",
    "syscall",
    "timers",
    "wchan",
];

/// The caller who asks for a file, and the facts on which the answer depends.
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) thread: usize,
    pub(crate) sight: &'a mut Sight,
    pub(crate) setup: &'a Setup,
    pub(crate) clock: Clock,
    pub(crate) apart: Apart,
}

impl Asked<'_> {
    /// The content of a file, by its name without links and detours.
    pub(crate) fn answer_for(&mut self, name: &str) -> Answered {
        let hundredths = self.clock.monotonic_ns / 10_000_000;
        let text = match name {
            "/etc/hosts" => {
                let mut text = "127.0.0.1 localhost\n".to_owned();
                let own = (self.setup.name.clone(), self.setup.address);
                for (name, address) in std::iter::once(&own).chain(&self.setup.hosts) {
                    text += &format!("{address} {name}\n");
                }
                text
            }
            "/etc/hostname" => format!("{}\n", self.setup.name),
            "/etc/resolv.conf" => String::new(),
            "/etc/nsswitch.conf" => "passwd: files\ngroup: files\nhosts: files\nservices: files\n".to_owned(),
            "/etc/machine-id" | "/var/lib/dbus/machine-id" => format!("{}\n", self.machine_id()),
            "/proc/uptime" => format!("{0}.{1:02} {0}.{1:02}\n", hundredths / 100, hundredths % 100),
            "/proc/loadavg" => "0.00 0.00 0.00 1/100 1000\n".to_owned(),
            "/proc/stat" => {
                let started = (self.clock.wall_ns.saturating_sub(self.clock.monotonic_ns)) / 1_000_000_000;
                format!("cpu  0 0 0 {hundredths} 0 0 0 0 0 0\ncpu0 0 0 0 {hundredths} 0 0 0 0 0 0\nbtime {started}\n")
            }
            "/proc/meminfo" => {
                "MemTotal: 4194304 kB\nMemFree: 3145728 kB\nMemAvailable: 3145728 kB\nBuffers: 0 kB\nCached: 0 kB\n\
                 SwapTotal: 0 kB\nSwapFree: 0 kB\n"
                    .to_owned()
            }
            "/proc/cpuinfo" => match text_of("/proc/cpuinfo") {
                Ok(text) => one_processor(&text),
                Err(_) => return Answered::Real,
            },
            "/proc/cgroups" => match text_of("/proc/cgroups") {
                Ok(text) => without_counts(&text),
                Err(_) => return Answered::Real,
            },
            "/sys/devices/system/cpu/online" | "/sys/devices/system/cpu/possible" | "/sys/devices/system/cpu/present" => {
                "0\n".to_owned()
            }
            "/proc/sys/kernel/random/uuid" | "/proc/sys/kernel/random/boot_id" => self.draw_uuid(),
            "/proc/sys/kernel/random/entropy_avail" => "256\n".to_owned(),
            "/proc/sys/fs/file-nr" => "1000\t0\t100000\n".to_owned(),
            "/proc/sys/fs/inode-nr" | "/proc/sys/fs/inode-state" | "/proc/sys/fs/dentry-state"
            | "/proc/sys/kernel/ns_last_pid" => return Answered::Absent,
            _ => {
                if let Some(rest) = name.strip_prefix("/proc/") {
                    return self.answer_for_process(rest);
                }
                return if is_of_machine(name) { Answered::Absent } else { Answered::Real };
            }
        };
        Answered::Text(text)
    }

    /// The content of a file below `/proc`.
    fn answer_for_process(&mut self, rest: &str) -> Answered {
        let (first, file) = rest.split_once('/').unwrap_or((rest, ""));
        let Ok(number) = first.parse::<u32>() else {
            return if STEADY.contains(&first) || first == "sysvipc" && self.apart.ipc {
                Answered::Real
            } else {
                Answered::Absent
            };
        };
        let own = self.table.processes.iter().rposition(|process| process.alive && process.own_pid == number);
        let outer =
            || self.table.processes.iter().rposition(|process| process.alive && process.pid == number);
        let Some(process) = own.or_else(outer) else {
            // The init, or nobody's.
            return if file.is_empty() { Answered::Real } else { Answered::Absent };
        };
        // Of a thread the same as of its process.
        let (number, file) = match file.strip_prefix("task/").and_then(|task| task.split_once('/')) {
            Some((task, file)) => (task.parse().unwrap_or(number), file),
            None => (number, file),
        };
        let own = self.table.processes[process].own_pid;
        let parent =
            self.table.processes[process].parent.map_or(1, |parent| self.table.processes[parent].own_pid);
        match file {
            "stat" => Answered::Text(format!(
                "{number} (program) R {parent} {own} {own} 0 -1 4194304 100 0 0 0 1 1 0 0 20 0 1 0 100 60000000 3000 \
                 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
            )),
            // Its control group has a name of the machine's.
            "cgroup" => Answered::Text("0::/\n".to_owned()),
            "maps" => {
                self.file_of(rest).map_or(Answered::Absent, |text| Answered::Text(without_clock(&text)))
            }
            // The numbers of its pipes and mounts.
            file if file.starts_with("fdinfo/") => Answered::Absent,
            "statm" => Answered::Text("20000 3000 1000 100 0 5000 0\n".to_owned()),
            "status" => self.status_of(rest).map_or(Answered::Absent, Answered::Text),
            "mountinfo" | "mounts" => match self.file_of(rest) {
                Some(text) if file == "mountinfo" => Answered::Text(renumbered(&text)),
                Some(text) => {
                    let lines = seen(&text, 1).into_iter().map(|line| line.join(" ") + "\n");
                    Answered::Text(lines.collect())
                }
                None => Answered::Absent,
            },
            file if file.starts_with("net") && !self.apart.network => Answered::Absent,
            file if COUNTED.contains(&file) => Answered::Absent,
            _ => Answered::Real,
        }
    }

    /// The content of a file below `/proc` as the process sees it.
    fn file_of(&mut self, rest: &str) -> Option<String> {
        self.sight.view(self.table.caller(self.thread)).ok()?.read(&format!("proc/{rest}"))
    }

    /// The status of a process as it sees it, but for what the kernel counts.
    fn status_of(&mut self, rest: &str) -> Option<String> {
        let text = self.file_of(rest)?;
        let lines = text.lines().map(|line| {
            let name = line.split(':').next().unwrap_or_default();
            match name {
                _ if name.starts_with("Vm") || name.starts_with("Rss") || name == "HugetlbPages" => {
                    format!("{name}:\t   20000 kB\n")
                }
                // Those of all processes of the user.
                "SigQ" => "SigQ:\t0/10000\n".to_owned(),
                "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches" => format!("{name}:\t1\n"),
                "Cpus_allowed" | "Mems_allowed" => format!("{name}:\t1\n"),
                "Cpus_allowed_list" | "Mems_allowed_list" => format!("{name}:\t0\n"),
                _ => format!("{line}\n"),
            }
        });
        Some(lines.collect())
    }

    /// The same for a host in each run, and another one for each host.
    fn machine_id(&self) -> String {
        let byte = |at: usize| {
            let name =
                self.setup.name.bytes().fold(at as u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
            name ^ self.setup.address.octets()[at % 4]
        };
        (0..16).map(|at| format!("{:02x}", byte(at))).collect()
    }

    fn draw_uuid(&mut self) -> String {
        let random = self.table.random_of(self.thread);
        let (high, low) = (random.next_u64(), random.next_u64());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}\n",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0xfff,
            low & 0xffff_ffff_ffff
        )
    }
}

/// True if a file is the machine's alone.
fn is_of_machine(name: &str) -> bool {
    let is_below =
        |dir: &str| name.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below("/var/lib/libuuid") || is_below("/sys") && !is_seen(name)
}

/// A table of mappings in which the file of the clock page has no number of the machine's.
fn without_clock(text: &str) -> String {
    let shown = |line: &str| match line.split_once("/memfd:clock") {
        Some((before, after)) => {
            let mut words: Vec<&str> = before.split_whitespace().collect();
            words.pop();
            format!("{} 1 /memfd:clock{after}\n", words.join(" "))
        }
        None => format!("{line}\n"),
    };
    text.lines().map(shown).collect()
}

/// The controllers of the machine, each with one group, as with control groups of the second version: a process is in `0::/`, and a JVM that
/// finds hierarchies of the first version looks for its group in each.
fn without_counts(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [name, _, _, enabled] if !name.starts_with('#') => format!("{name}\t0\t1\t{enabled}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// The lines of a table of mounts that can be seen: whether another one lies below depends on how the program was started. `at` is the field
/// of the place.
fn seen(text: &str, at: usize) -> Vec<Vec<&str>> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let is_seen = |(nth, line): (usize, &Vec<&str>)| {
        line.len() > at && lines[nth + 1..].iter().all(|later| later.get(at) != line.get(at))
    };
    lines.iter().enumerate().filter(|line| is_seen(*line)).map(|(_, line)| line.clone()).collect()
}

/// The mounts of a process, numbered from 1 on, and so are devices that are none: the kernel numbers those of all, and the groups of mounts
/// that follow each other.
fn renumbered(text: &str) -> String {
    /// The fields of a line: its place, and its device.
    const PLACE: usize = 4;
    const DEVICE: usize = 2;
    let lines = seen(text, PLACE);
    let is_below = |place: &str, other: &str| {
        other != place
            && place.strip_prefix(other).is_some_and(|rest| other.ends_with('/') || rest.starts_with('/'))
    };
    let parent = |place: &str| {
        let above = (1..).zip(&lines).filter(|(_, line)| is_below(place, line[PLACE]));
        above.max_by_key(|(_, line)| line[PLACE].len()).map_or(0, |(number, _)| number)
    };
    let is_group =
        |field: &str| ["shared:", "master:", "propagate_from:"].iter().any(|group| field.starts_with(group));
    let line = |(own, line): (usize, &Vec<&str>)| {
        let device =
            if line[DEVICE].starts_with("0:") { format!("0:{own}") } else { line[DEVICE].to_owned() };
        let rest: Vec<&str> = line[DEVICE + 1..].iter().copied().filter(|field| !is_group(field)).collect();
        format!("{own} {} {device} {}\n", parent(line[PLACE]), rest.join(" "))
    };
    (1..).zip(&lines).map(line).collect()
}

/// The first processor of the machine, at a steady pace.
fn one_processor(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default().lines();
    let lines = first.map(|line| match line.split('\t').next().unwrap_or_default().trim() {
        name @ ("cpu MHz" | "bogomips") => format!("{name}\t: 2000.000\n"),
        "siblings" => "siblings\t: 1\n".to_owned(),
        "cpu cores" => "cpu cores\t: 1\n".to_owned(),
        _ => format!("{line}\n"),
    });
    lines.chain(["\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_and_groups_have_no_numbers_of_the_machine() {
        let text = "600 1 254:0 / / rw - ext4 /dev/vda rw\n\
                    652 600 0:21 / /proc rw shared:12 - proc proc rw\n\
                    655 652 0:22 / /proc ro master:3 - proc proc rw\n\
                    660 655 0:23 / /proc/sys ro - proc proc rw\n";
        let seen = "1 0 254:0 / / rw - ext4 /dev/vda rw\n\
                    2 1 0:2 / /proc ro - proc proc rw\n\
                    3 2 0:3 / /proc/sys ro - proc proc rw\n";
        assert_eq!(renumbered(text), seen);
        let text = "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t117\t1\n";
        assert_eq!(without_counts(text), text.replace("4\t117", "0\t1"));
    }
}
