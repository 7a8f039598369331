"""kazoo's read-write lock: the first client reads, the others write."""
import encodings.idna  # noqa: F401: a connect by name needs it, and imports it late
import gc
import os
import socket
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout

ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
client = KazooClient(os.environ["PICKLOCK_STORES"], timeout=ttl, command_retry={"max_tries": -1, "max_delay": 1})
kind = client.ReadLock if socket.gethostname() == "client-1" else client.WriteLock
held = {}


def acquire(key, wait):
    if client.client_state == "CLOSED":
        client.start(timeout=wait)
    lock = kind("/" + key)
    if not lock.acquire(timeout=wait):
        return "refused"
    held[key] = lock
    return "granted"


gc.freeze()
for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            print(acquire(key, int(rest[0]) / 1000), flush=True)
        else:
            held.pop(key).release()
            print("released", flush=True)
    except LockTimeout:
        print("refused", flush=True)
    except (KazooException, client.handler.timeout_exception, LookupError) as error:
        print("error", type(error).__name__, error, flush=True)
