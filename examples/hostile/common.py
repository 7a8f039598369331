"""What the probes have in common: one line for each attempt, `ESCAPED` or `refused`."""

import errno
import os
import sys


def attempt(what, does):
    """Does something that must fail. Whatever it gives back goes on the line of an escape."""
    try:
        got = does()
    except OSError as error:
        print("refused", what, errno.errorcode.get(error.errno, error), flush=True)
        return False
    except Exception as error:
        print("refused", what, type(error).__name__, error, flush=True)
        return False
    print("ESCAPED", what, "" if got is None else got, flush=True)
    return True


def expect(what, does):
    """Does something that must work: the program's own world."""
    try:
        does()
        print("works", what, flush=True)
    except Exception as error:
        print("BROKEN", what, type(error).__name__, error, flush=True)


def outside(name):
    """Something of the machine that the test has put there: a path, a key or a name."""
    value = os.environ.get("OUTSIDE_" + name)
    if not value:
        print("skipped: no OUTSIDE_" + name, flush=True)
        sys.exit(0)
    return value


HOME = os.environ["HOME"]


def detours(path):
    """Spellings of a path outside, most of which begin in the program's own directory."""
    up = "/".join([".."] * (HOME.count("/")))
    os.chdir(HOME)
    os.symlink(path, "link")
    os.symlink(os.path.dirname(path), "dir")
    os.symlink("dir", "dir-of-dir")
    name = os.path.basename(path)
    folder = os.open(os.path.dirname(path), os.O_PATH)
    file = os.open(path, os.O_PATH)
    return [
        path,
        "/" + path,
        HOME + "/" + up + path,
        up + path,
        HOME + "/link",
        "link",
        HOME + "/dir/" + name,
        "dir-of-dir/" + name,
        "/proc/self/root" + path,
        "/proc/self/cwd/" + up + path,
        "/proc/thread-self/root" + path,
        f"/proc/self/fd/{folder}/{name}",
        f"/dev/fd/{folder}/{name}",
        f"/proc/self/fd/{file}",
        f"/proc/{os.getppid()}/root" + path,
    ]
