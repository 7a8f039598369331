"""Locks a file of the machine, in every way that there is, and looks for the locks of others."""

import fcntl
import os
import struct

from common import HOME, attempt, expect

GET, SET, GET_OPEN, SET_OPEN = fcntl.F_GETLK, fcntl.F_SETLK, 36, 37


def ranges(command, kind):
    return lambda file: fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))


WAYS = {
    "flock": lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "flock, waiting": lambda file: fcntl.flock(file, fcntl.LOCK_SH),
    "a lock of a process": ranges(SET, fcntl.F_RDLCK),
    "a lock of a process, waiting": ranges(fcntl.F_SETLKW, fcntl.F_RDLCK),
    "a lock of an open file": ranges(SET_OPEN, fcntl.F_RDLCK),
    "locks of processes": ranges(GET, fcntl.F_WRLCK),
    "locks of open files": ranges(GET_OPEN, fcntl.F_WRLCK),
}
file = os.open("/etc/passwd", os.O_RDONLY)
for name, take in WAYS.items():
    attempt(name, lambda: take(file) and None)
own = os.open(HOME + "/own", os.O_RDWR | os.O_CREAT, 0o600)
for name, take in WAYS.items():
    expect(name + " on a file of its own", lambda: take(own))
