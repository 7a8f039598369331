"""Puts things of the machine where probes may try to reach them, and says at the end what was reached.

Prints `NAME=value` lines and then `ready`; ends, and takes all away, when its standard input does.
"""

import ctypes
import os
import socket
import sys
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
KEY = 0x50690000 + os.getpid() % 65536
QUEUE = f"picklock-outside-{os.getpid()}"


def show(name, value):
    print(f"OUTSIDE_{name}={value}", flush=True)


with tempfile.TemporaryDirectory(prefix="picklock-outside-") as folder:
    os.chmod(folder, 0o755)
    sockets = []
    for name, kind, address in [
        ("STREAM", socket.SOCK_STREAM, folder + "/stream"),
        ("DATAGRAM", socket.SOCK_DGRAM, folder + "/datagram"),
        ("ABSTRACT_STREAM", socket.SOCK_STREAM, f"\0picklock-outside-stream-{os.getpid()}"),
        ("ABSTRACT_DATAGRAM", socket.SOCK_DGRAM, f"\0picklock-outside-datagram-{os.getpid()}"),
    ]:
        sock = socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.listen()
        if address[0] == "/":
            os.chmod(address, 0o777)
        sockets.append((name, kind, sock))
        show(name, address.lstrip("\0"))
    pipe = folder + "/pipe"
    os.mkfifo(pipe)
    os.chmod(pipe, 0o666)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    show("PIPE", pipe)
    shared = libc.shmget(KEY, 4096, 0o1666)
    semaphores = libc.semget(KEY, 1, 0o1666)
    queue = libc.msgget(KEY, 0o1666)
    show("KEY", KEY)
    show("SHARED_MEMORY", shared)
    messages = libc.mq_open(QUEUE.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
    show("QUEUE", QUEUE)
    show("PROCESS", os.getpid())
    print("ready", flush=True)
    sys.stdin.read()
    for name, kind, sock in sockets:
        try:
            got = sock.accept()[1] if kind == socket.SOCK_STREAM else sock.recv(100)
        except BlockingIOError:
            continue
        print("REACHED", name, got, flush=True)
    libc.shmctl(shared, 0, None)
    libc.semctl(semaphores, 0, 0, 0)
    libc.msgctl(queue, 0, None)
    if messages >= 0:
        libc.mq_unlink(QUEUE.encode())
