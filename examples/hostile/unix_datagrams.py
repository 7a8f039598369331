"""Sends datagrams to a unix socket of the machine, as `logger` and `sd_notify` do."""

import ctypes
import os
import socket

from common import HOME, attempt, detours, expect, outside

libc = ctypes.CDLL(None, use_errno=True)


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("namelen", ctypes.c_uint),
        ("iov", ctypes.POINTER(Part)),
        ("iovlen", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("controllen", ctypes.c_size_t),
        ("flags", ctypes.c_int),
        ("sent", ctypes.c_uint),
    ]


def message(address):
    raw = (1).to_bytes(2, "little") + address.encode()
    part = Part(b"from inside", 11)
    return Message(raw, len(raw), ctypes.pointer(part), 1, None, 0, 0)


def many(address, fd):
    """`sendmmsg`, which Python does not have."""
    if libc.sendmmsg(fd, ctypes.byref(message(address)), 1, 0) < 1:
        raise OSError(ctypes.get_errno(), "sendmmsg")


def at_1000(address, flags):
    """The descriptor by which the sandbox hands over its listener."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as conn:
        os.dup2(conn.fileno(), 1000)
        try:
            if libc.sendmsg(1000, ctypes.byref(message(address)), flags) < 0:
                raise OSError(ctypes.get_errno(), "sendmsg")
        finally:
            os.close(1000)


def ways(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as conn:
        shown = address.replace("\0", "@")
        attempt(f"sendto {shown}", lambda: conn.sendto(b"from inside", address))
        attempt(f"sendmsg {shown}", lambda: conn.sendmsg([b"from inside"], [], 0, address))
        attempt(f"sendmmsg {shown}", lambda: many(address, conn.fileno()))
        attempt(f"connect {shown}", lambda: conn.connect(address))


for way in detours(outside("DATAGRAM")):
    ways(way)
ways("\0" + outside("ABSTRACT_DATAGRAM"))
for flags in [0, 0x1804]:
    attempt(f"sendmsg by descriptor 1000, flags {flags}", lambda: at_1000(outside("DATAGRAM"), flags))
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as conn:
    attempt("connect /dev/log", lambda: conn.connect("/dev/log"))


def own(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
        there.bind(address)
        reader, writer = os.pipe()
        here.sendto(b"one", address)
        here.sendmsg([b"t", b"wo"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, writer.to_bytes(4, "little"))], 0, address)
        many(address, here.fileno())
        here.connect(address)
        here.send(b"four")
        assert there.recv(100) == b"one"
        data, files, _, _ = socket.recv_fds(there, 100, 1)
        assert data == b"two"
        os.write(files[0], b"through")
        assert os.read(reader, 100) == b"through"
        assert there.recv(100) == b"from inside"
        assert there.recv(100) == b"four"


expect("a path of its own", lambda: own(HOME + "/own"))
