//! Files that differ from machine to machine or from run to run: they are answered with others.

use std::os::fd::{AsFd, OwnedFd};

use rand_core::Rng;
use rustix::{
    fs::{MemfdFlags, SeekFrom, memfd_create},
    io::Errno,
};
use syscalls::Sysno;

use super::{
    group::{Answer, Group},
    notify::Notice,
};

/// Bytes of randomness that one call is given at most.
const MOST_RANDOM: usize = 1 << 20;

impl Group {
    pub(crate) fn open(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let (path_at, flags) = match notice.call() {
            Sysno::open => (0, notice.int(1)),
            Sysno::openat => (1, notice.int(2)),
            _ => (1, self.memory_of(thread).u32(notice.arg(2))? as i32),
        };
        let path = self.memory_of(thread).text(notice.arg(path_at))?;
        // Names below the starting directory are the program's own.
        let Some(path) = std::str::from_utf8(&path).ok().filter(|path| path.starts_with('/')) else {
            return Ok(Answer::Go);
        };
        let is_random = matches!(path, "/dev/urandom" | "/dev/random");
        let file = if is_random {
            let file = memory_file(&[])?;
            self.random_files.push(rustix::fs::fstat(&file)?.st_ino);
            file
        } else {
            if path.starts_with("/sys/class/net") || path.starts_with("/var/lib/libuuid") {
                return Err(Errno::NOENT);
            }
            let Some(text) = self.text_of(thread, path) else { return Ok(Answer::Go) };
            memory_file(text.as_bytes())?
        };
        let closes = flags & libc::O_CLOEXEC != 0;
        self.listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        Ok(Answer::Done)
    }

    /// What a file of the simulated host says.
    fn text_of(&mut self, thread: usize, path: &str) -> Option<String> {
        let process = self.threads[thread].process;
        let pid = self.processes[process].own_pid;
        let own = path.strip_prefix("/proc/self/").or_else(|| path.strip_prefix(&format!("/proc/{pid}/")));
        let text = match (path, own) {
            ("/etc/hosts", _) => {
                let mut text = "127.0.0.1 localhost\n".to_owned();
                let own = (self.setup.name.clone(), self.setup.address);
                for (name, address) in std::iter::once(&own).chain(&self.setup.hosts) {
                    text += &format!("{address} {name}\n");
                }
                text
            }
            ("/etc/hostname", _) => format!("{}\n", self.setup.name),
            ("/etc/resolv.conf", _) => String::new(),
            ("/etc/nsswitch.conf", _) => "passwd: files\ngroup: files\nhosts: files\nservices: files\n".to_owned(),
            ("/proc/uptime", _) => {
                let hundredths = self.clock.monotonic_ns / 10_000_000;
                format!("{0}.{1:02} {0}.{1:02}\n", hundredths / 100, hundredths % 100)
            }
            ("/proc/loadavg", _) => "0.00 0.00 0.00 1/100 1000\n".to_owned(),
            ("/proc/stat", _) => {
                let hundredths = self.clock.monotonic_ns / 10_000_000;
                let boot = (self.clock.wall_ns.saturating_sub(self.clock.monotonic_ns)) / 1_000_000_000;
                format!("cpu  0 0 0 {hundredths} 0 0 0 0 0 0\ncpu0 0 0 0 {hundredths} 0 0 0 0 0 0\nbtime {boot}\n")
            }
            ("/proc/meminfo", _) => {
                "MemTotal: 4194304 kB\nMemFree: 3145728 kB\nMemAvailable: 3145728 kB\nBuffers: 0 kB\nCached: 0 kB\n\
                 SwapTotal: 0 kB\nSwapFree: 0 kB\n"
                    .to_owned()
            }
            ("/sys/devices/system/cpu/online" | "/sys/devices/system/cpu/possible", _) => "0\n".to_owned(),
            ("/proc/sys/kernel/random/uuid" | "/proc/sys/kernel/random/boot_id", _) => {
                let random = &mut self.processes[process].random;
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
            (_, Some("stat")) => {
                let parent = self.processes[process].parent.map_or(1, |parent| self.processes[parent].own_pid);
                format!(
                    "{pid} (program) R {parent} {pid} {pid} 0 -1 4194304 100 0 0 0 1 1 0 0 20 0 1 0 100 60000000 3000 \
                     18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                )
            }
            (_, Some("statm")) => "20000 3000 1000 100 0 5000 0\n".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    /// Notes a sync of a file. It is the kernel's; nothing else runs meanwhile.
    pub(crate) fn sync(&self, notice: &Notice) -> Answer {
        let file = std::fs::metadata(format!("/proc/{}/fd/{}", notice.thread(), notice.int(0)));
        if let (Some(syncs), Ok(file)) = (&self.setup.syncs, file) {
            syncs.note(&file);
        }
        Answer::Go
    }

    pub(crate) fn getrandom(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        self.give_random(thread, notice.arg(0), notice.arg(1))
    }

    fn give_random(&mut self, thread: usize, address: u64, length: u64) -> Result<Answer, Errno> {
        let mut bytes = vec![0; MOST_RANDOM.min(length as usize)];
        self.processes[self.threads[thread].process].random.fill_bytes(&mut bytes);
        self.memory_of(thread).write(address, &bytes)?;
        Ok(Answer::Value(bytes.len() as i64))
    }

    /// A read of `/dev/urandom`.
    pub(crate) fn read_random(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        if notice.call() == Sysno::readv {
            // The first part alone: readers come back for the rest.
            let memory = self.memory_of(thread);
            let (address, length) = (memory.u64(notice.arg(1))?, memory.u64(notice.arg(1) + 8)?);
            return self.give_random(thread, address, length);
        }
        self.give_random(thread, notice.arg(1), notice.arg(2))
    }
}

fn memory_file(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let file = memfd_create("file", MemfdFlags::CLOEXEC)?;
    rustix::io::write(&file, bytes)?;
    rustix::fs::seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}
