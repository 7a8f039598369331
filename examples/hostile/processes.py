"""Reaches for processes and namespaces of the machine."""

import ctypes
import fcntl
import os
import signal

from common import attempt, outside

libc = ctypes.CDLL(None, use_errno=True)
pid = int(outside("PROCESS"))


def call(number, *arguments):
    got = libc.syscall(number, *arguments)
    if got < 0:
        raise OSError(ctypes.get_errno(), str(number))
    return got


attempt("kill", lambda: os.kill(pid, 0))
attempt("pidfd_open", lambda: os.pidfd_open(pid))
attempt("ptrace", lambda: call(101, 16, pid, 0, 0))
attempt("process_vm_readv", lambda: call(310, pid, 0, 0, 0, 0, 0))
attempt("unshare a user namespace", lambda: call(272, 0x10000000))
attempt("unshare mounts", lambda: call(272, 0x20000))
attempt("clone into a user namespace", lambda: call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0))
attempt("clone beside itself", lambda: call(56, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0))
attempt("setns", lambda: call(308, os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
attempt("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, 0))
attempt("chroot", lambda: os.chroot("/"))
attempt("io_uring", lambda: call(425, 1, 0))
attempt("a call of a newer kernel", lambda: call(463, -100, b"/tmp", 0, b"user.x", 0, 0))
attempt("sockets of another family", lambda: call(53, 30, 1, 0, 0))
attempt("open by handle", lambda: call(304, 3, 0, 0))
attempt("a lock on a file of the machine", lambda: fcntl.flock(open("/etc/passwd"), fcntl.LOCK_SH | fcntl.LOCK_NB))
attempt("a lease on a file of the machine", lambda: fcntl.fcntl(open("/etc/passwd"), 1024, fcntl.F_RDLCK))
attempt("its own files", lambda: os.listdir(f"/proc/{pid}/root"))
attempt("its memory", lambda: open(f"/proc/{pid}/mem", "rb"))
