"""kazoo's Lock, on a ZooKeeper: an ephemeral node of the client's session, which kazoo keeps alive in the background.

    picklock run --program 'target/adapters/python/bin/python examples/adapters/kazoo_lock.py' --topology zookeeper:3 --set ttl=4s

The lease is asked for as the session's time-out; the server grants no less than two of its ticks. The token is the number
of the transaction that created the node. With --renew the state of the session is read, of which kazoo notifies its listeners.
"""
import encodings.idna  # noqa: F401: a connect by name needs it, and imports it late
import gc
import os
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout

# A release that is not tried until it is answered leaves the node there for as long as the session lasts.
again = {"max_tries": -1, "max_delay": 1}
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
client = KazooClient(os.environ["PICKLOCK_STORES"], timeout=ttl, command_retry=again)
held = {}


def acquire(key, wait):
    if client.client_state == "CLOSED":
        client.start(timeout=wait)
    lock = client.Lock("/" + key)
    if not lock.acquire(timeout=wait):
        return "refused"
    held[key] = lock
    return f"granted token={client.retry(client.get, lock.path + '/' + lock.node)[1].czxid}"


gc.freeze()
for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            print(acquire(key, int(rest[0]) / 1000), flush=True)
        elif verb == "renew":
            print("renewed" if client.connected and held[key].is_acquired else "lost", flush=True)
        else:
            held.pop(key).release()
            print("released", flush=True)
    except LockTimeout:
        print("refused", flush=True)
    except (KazooException, client.handler.timeout_exception, LookupError) as error:
        print("error", type(error).__name__, error, flush=True)
