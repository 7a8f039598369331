"""redis-py's Lock, on one Redis or on Redis Cluster, asked by picklock: picklock run --program 'python3 examples/adapters/redis_py.py'"""
import os
import sys

import redis
from redis.cluster import ClusterNode
from redis.exceptions import LockError, LockNotOwnedError, RedisError


def connect():
    """A client of the one store, or of the cluster: that one asks at once where the slots are, which may take several attempts."""
    if "PICKLOCK_CLUSTER" not in os.environ:
        return redis.Redis.from_url(os.environ["PICKLOCK_STORES"])
    nodes = [node.split(":") for node in os.environ["PICKLOCK_CLUSTER"].split(",")]
    return redis.RedisCluster(startup_nodes=[ClusterNode(host, int(port)) for host, port in nodes])


store = None
ttl = int(os.environ["PICKLOCK_TTL_MS"]) / 1000
held = {}

for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if store is None:
            store = connect()
        if verb == "acquire":
            lock = store.lock(key, timeout=ttl, sleep=0.02, blocking_timeout=int(rest[0]) / 1000)
            if lock.acquire():
                held[key] = lock
                print("granted", flush=True)
            else:
                print("refused", flush=True)
        elif verb == "release":
            held.pop(key).release()
            print("released", flush=True)
        elif verb == "renew":
            held[key].reacquire()
            print("renewed", flush=True)
        else:
            print("error not understood:", verb, flush=True)
    except LockNotOwnedError as error:
        print("lost" if verb == "renew" else f"error {error}", flush=True)
    except (LockError, RedisError) as error:
        print("error", error, flush=True)
