"""Looks for what the machine counts: its time, its load, its numbers, by spellings that no list of names holds."""

import os
import socket
import time

from common import HOME

START = time.time()


def check(what, is_own, seen=""):
    print("refused" if is_own else "ESCAPED", what, "" if is_own else seen, flush=True)


def read(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return None


os.chdir(HOME)
uptime = open("/proc/uptime").read().split()[0]
os.symlink("/proc/uptime", "uptime")
os.symlink("/proc", "proc")
folder = os.open("/proc", os.O_PATH)
file = os.open("/proc/uptime", os.O_PATH)
ways = [
    "/proc/./uptime",
    "//proc/uptime",
    "/proc/self/../uptime",
    "/../proc/uptime",
    "uptime",
    "proc/uptime",
    "../../proc/uptime",
    "/proc/self/root/proc/uptime",
    "/proc/self/cwd/uptime",
    f"/proc/self/fd/{folder}/uptime",
    f"/proc/self/fd/{file}",
]
for way in ways:
    check(f"uptime by {way}", abs(float(open(way).read().split()[0]) - float(uptime)) < 1, open(way).read())
by_folder = os.open("uptime", os.O_RDONLY, dir_fd=folder)
check("uptime by openat", abs(float(os.read(by_folder, 100).split()[0]) - float(uptime)) < 1)
os.symlink("/dev/urandom", "urandom")
for way in ["//dev/urandom", "/dev/../dev/urandom", "urandom", "/proc/self/root/dev/random"]:
    random = os.open(way, os.O_RDONLY)
    print("draws", way, os.read(random, 8).hex(), os.pread(random, 8, 0).hex(), os.pread(random, 8, 8000).hex(), flush=True)
for name in [
    "timer_list", "sched_debug", "schedstat", "vmstat", "zoneinfo", "buddyinfo", "interrupts", "softirqs", "diskstats", "slabinfo",
    "pressure/cpu", "locks", "net/unix", "self/sched", "self/schedstat", "self/io", "thread-self/sched", "thread-self/schedstat",
    "self/task/2/sched", "self/smaps", "1/stat", "1/status", "self/stack", "kcore", "kmsg", "keys", "sys/kernel/ns_last_pid",
]:
    text = read("/proc/" + name)
    # A network of its own has its own sockets alone: none here.
    check(name, text is None or name == "net/unix" and len(text.splitlines()) <= 2, text and text[:60])
for name in ["self/stat", "thread-self/stat", "self/status", "self/statm", "stat", "cpuinfo", "sys/fs/file-nr", "self/net/dev", "meminfo"]:
    print("says", name, read("/proc/" + name), flush=True)
for name in ["/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/net/lo/address", "/sys/class/dmi/id/product_uuid"]:
    print("says", name, read(name), flush=True)


def is_now(path, since):
    status = os.stat(path)
    times = [status.st_mtime, status.st_ctime, status.st_atime]
    return all(since - 0.001 <= when <= time.time() + 0.001 for when in times), times


os.mkdir("folder")
open("folder/written", "w").write("x")
written = time.time()
time.sleep(10)
check("a file's times", abs(os.stat("folder/written").st_mtime - written) < 0.001, os.stat("folder/written"))
check("a directory's times", abs(os.stat("folder").st_mtime - written) < 0.001, os.stat("folder"))
check("all its times", *is_now("folder/written", START))
again = os.open("folder/written", os.O_WRONLY)
time.sleep(10)
os.write(again, b"y")
then = time.time()
time.sleep(10)
check("a file's times by its descriptor", abs(os.fstat(again).st_mtime - then) < 0.001, os.fstat(again))
open("draft", "w").write("x")
os.rename("draft", "final")
renamed = time.time()
time.sleep(10)
check("the times of what was renamed", abs(os.stat("final").st_mtime - renamed) < 0.001, os.stat("final"))
os.utime("final", (5, 7))
check("times that were set", (os.stat("final").st_atime, os.stat("final").st_mtime) == (5, 7), os.stat("final"))
os.link("final", "linked")
check("a link keeps the times", os.stat("linked").st_mtime == 7, os.stat("linked"))
reader, writer = os.pipe()
ours, theirs = socket.socketpair()
print("numbers", [os.fstat(fd)[1:3] + os.fstat(fd)[7:] for fd in [reader, writer, ours.fileno(), theirs.fileno(), 0]], flush=True)
print("links", [os.readlink(f"/proc/self/fd/{fd}") for fd in [reader, ours.fileno(), 1]], flush=True)
print("cookies", [sock.getsockopt(socket.SOL_SOCKET, 57, 8) for sock in [ours, theirs]], flush=True)
