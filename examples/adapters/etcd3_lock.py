"""The lock of python-etcd3, which speaks to etcd by gRPC's C core, with its threads and its polling.

    pip install etcd3 'protobuf<4'
    picklock run --program 'python3 examples/adapters/etcd3_lock.py' --topology etcd:1 --set ttl=2s --scenario pause

It knows one member alone. Its lock has no token, and its lease is not renewed.
"""
import gc
import os
import sys
from urllib.parse import urlsplit

import etcd3
first = urlsplit(os.environ["PICKLOCK_STORES"].split(",")[0])
client = etcd3.client(host=first.hostname, port=first.port, timeout=2)
ttl = -(-int(os.environ["PICKLOCK_TTL_MS"]) // 1000)
held = {}
gc.freeze()
for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            lock = client.lock(key, ttl=ttl)
            if lock.acquire(timeout=int(rest[0]) / 1000):
                held[key] = lock
                print("granted", flush=True)
            else:
                print("refused", flush=True)
        else:
            held.pop(key).release()
            print("released", flush=True)
    except Exception as error:
        # An error of gRPC has several lines, and an answer has one.
        print("error", *f"{type(error).__name__} {error}".split(), flush=True)
