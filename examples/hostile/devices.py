"""Opens every device that it finds, directly and by detours, and makes some of its own."""

import os
import stat

from common import HOME, attempt, expect

HARMLESS = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}


def tries(path):
    for flags in [os.O_RDONLY, os.O_WRONLY]:
        attempt(f"open {path}", lambda: os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)))


count = 0
for folder, folders, names in os.walk("/dev"):
    folders[:] = [name for name in folders if folder + "/" + name != HOME]
    for name in names:
        path = folder + "/" + name
        try:
            status = os.lstat(path)
        except OSError:
            continue
        number = (os.major(status.st_rdev), os.minor(status.st_rdev))
        is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
        if not is_device or number in HARMLESS or count > 400:
            continue
        count += 1
        tries(path)
        link = f"{HOME}/device-{count}"
        os.symlink(path, link)
        tries(link)
        tries("/proc/self/root" + path)
        attempt(f"open {path} by descriptor", lambda: os.close(os.open(f"/proc/self/fd/{os.open(path, os.O_PATH)}", os.O_RDWR | os.O_NONBLOCK)))


def make(kind, major, minor):
    path = f"{HOME}/made-{major}-{minor}"
    os.mknod(path, kind | 0o600, os.makedev(major, minor))
    return os.close(os.open(path, os.O_RDONLY))


attempt("make kmsg", lambda: make(stat.S_IFCHR, 1, 11))
attempt("make a loop device", lambda: make(stat.S_IFBLK, 7, 0))
for name in ["null", "zero", "full", "random", "urandom"]:
    expect(f"/dev/{name}", lambda: os.close(os.open(f"/dev/{name}", os.O_RDONLY)))
expect("writing to /dev/null", lambda: open("/dev/null", "w").write("x"))


def terminal():
    ours, theirs = os.openpty()
    assert os.ttyname(theirs) == "/dev/pts/0", os.ttyname(theirs)


expect("a pseudo-terminal of its own", terminal)
