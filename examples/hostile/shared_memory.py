"""Reaches for shared memory, semaphores and queues of the machine, and makes some that must not outlive it."""

import ctypes
import os

from common import attempt, outside

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p


def call(name, *arguments):
    got = getattr(libc, name)(*arguments)
    if got in (-1, None, 2**64 - 1):
        raise OSError(ctypes.get_errno(), name)
    return got


key = int(outside("KEY"))
identifier = int(outside("SHARED_MEMORY"))
attempt("shmget", lambda: call("shmget", key, 0, 0))
attempt("shmat", lambda: call("shmat", identifier, None, 0o10000))
attempt("semget", lambda: call("semget", key, 0, 0))
attempt("msgget", lambda: call("msgget", key, 0))
attempt("mq_open", lambda: call("mq_open", outside("QUEUE").encode(), os.O_RDONLY))
for name, arguments in [("shmget", (key, 4096, 0o1600)), ("semget", (key, 1, 0o1600)), ("msgget", (key, 0o1600))]:
    try:
        call(name, *arguments)
        print("works", name, "of its own", flush=True)
    except PermissionError:
        print("refused", name, "of its own", flush=True)
    except OSError as error:
        print("ESCAPED", name, "meets the machine's", error, flush=True)
