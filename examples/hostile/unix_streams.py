"""Connects to a unix socket of the machine, as a program would that wants Docker's."""

import socket

from common import HOME, attempt, detours, expect, outside


def connect(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as conn:
        conn.settimeout(1)
        conn.connect(path)
        conn.sendall(b"from inside\n")


path = outside("STREAM")
for way in detours(path):
    attempt(f"connect {way}", lambda: connect(way))
name = outside("ABSTRACT_STREAM")
attempt(f"connect @{name}", lambda: connect("\0" + name))
for known in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"]:
    attempt(f"connect {known}", lambda: connect(known))


def own(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as conn:
            conn.connect(address)
            conn.sendall(b"own")
            assert listener.accept()[0].recv(3) == b"own"


expect("a path of its own", lambda: own(HOME + "/own"))
expect("a relative path of its own", lambda: own("relative"))
