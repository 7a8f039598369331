"""kazoo's Lock, asked without blocking: a new one for each attempt, or with the word `same` one for each key."""
import encodings.idna  # noqa: F401: a connect by name needs it, and imports it late
import gc
import os
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
client = KazooClient(os.environ["PICKLOCK_STORES"], timeout=ttl, command_retry={"max_tries": -1, "max_delay": 1})
locks = {}


def acquire(key, wait):
    if client.client_state == "CLOSED":
        client.start(timeout=wait)
    if key not in locks or "same" not in sys.argv:
        locks[key] = client.Lock("/" + key)
    return "granted" if locks[key].acquire(blocking=False) else "refused"


gc.freeze()
for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            print(acquire(key, int(rest[0]) / 1000), flush=True)
        else:
            locks[key].release()
            print("released", flush=True)
    except (KazooException, client.handler.timeout_exception) as error:
        print("error", type(error).__name__, error, flush=True)
