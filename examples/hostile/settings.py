"""Opens the machine's settings for writing: everything below /proc and /sys that is a file."""

import os
import stat

from common import HOME, attempt

SOME = ["/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/sys/kernel/core_pattern", "/proc/self/mem", "/proc/1/mem"]


def tries(path):
    attempt(f"write {path}", lambda: os.close(os.open(path, os.O_WRONLY)))


for path in SOME:
    tries(path)
    tries("/proc/self/root" + path)
    link = HOME + "/" + path.replace("/", "-")
    os.symlink(path, link)
    tries(link)
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"chmod {path}", lambda: os.chmod(path, 0o666))
count = 0
for top in ["/proc/sys", "/proc/irq", "/proc/self", "/sys/fs", "/sys/kernel", "/sys/module", "/sys/power", "/sys/bus", "/etc", "/tmp"]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = folder + "/" + name
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and status.st_mode & 0o222 and count < 2000:
                count += 1
                tries(path)
