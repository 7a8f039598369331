"""Binds an abstract name that the machine has, too: the names of a host are its own, or there are none."""

import socket

from common import outside

name = "\0" + outside("ABSTRACT_STREAM")
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    try:
        listener.bind(name)
    except PermissionError:
        print("refused bind", flush=True)
    except OSError as error:
        print("ESCAPED bind meets the machine's", error, flush=True)
    else:
        listener.listen()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as conn:
            conn.connect(name)
            conn.sendall(b"own")
            print("works bind" if listener.accept()[0].recv(3) == b"own" else "ESCAPED bind", flush=True)
unnamed = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    unnamed.bind("")
    print("works unnamed", unnamed.getsockname(), flush=True)
except PermissionError:
    print("refused unnamed", flush=True)
