"""The lock recipe on etcd, without any library: a key that is created only if it is not there, tied to a lease.

    picklock run --program 'python3 examples/adapters/etcd_lock.py' --topology real-etcd:3 --set ttl=2s --scenario pause

It asks the JSON gateway, which every member has. The token is the revision at which the key was created, as etcd's own
lock has it; until when the lease lasts is reckoned from before it was asked for, so that it is never said too late.
"""
import base64
import encodings.idna  # noqa: F401: a connect by name needs it, and imports it late
import gc
import http.client
import json
import os
import socket
import sys
import time
import uuid
from urllib.parse import urlsplit

members = [urlsplit(url) for url in os.environ["PICKLOCK_STORES"].split(",")]
ttl = max(1, -(-int(os.environ["PICKLOCK_TTL_MS"]) // 1000))
held = {}


def call(path, body):
    """Asks one member after the other until one answers."""
    why = None
    body = json.dumps(body)
    for _ in members:
        host, port = members[0].hostname, members[0].port
        head = f"POST /v3/{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        try:
            with socket.create_connection((host, port), timeout=1) as conn:
                conn.sendall((head + body).encode())
                reply = http.client.HTTPResponse(conn)
                reply.begin()
                answer = json.loads(reply.readline())
            if reply.status == 200:
                return answer
            why = answer.get("error", reply.reason)
            if reply.status == 404:
                raise LookupError(why)
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = error
        members.append(members.pop(0))
    raise OSError(why)


def text(value):
    return base64.b64encode(value.encode()).decode()


def now_ms():
    return int(time.time() * 1000)


class Grant:
    """A lease, and what is tied to it."""

    def __init__(self, key):
        self.key, self.owner, self.token = text(key), text(str(uuid.uuid4())), None
        self.expires = now_ms() + ttl * 1000
        self.lease = call("lease/grant", {"TTL": ttl})["ID"]

    def extend(self):
        """Starts the lease anew; whether there still was one."""
        asked = now_ms()
        left = int(call("lease/keepalive", {"ID": self.lease})["result"].get("TTL", 0))
        self.expires = asked + left * 1000
        return left > 0

    def take(self):
        """Creates the key if it is not there, and sees whose it is if it is. Safe to be asked twice."""
        answer = call("kv/txn", {
            "compare": [{"target": "CREATE", "key": self.key, "create_revision": "0"}],
            "success": [{"request_put": {"key": self.key, "value": self.owner, "lease": self.lease}}],
            "failure": [{"request_range": {"key": self.key}}],
        })
        if answer.get("succeeded"):
            self.token = answer["header"]["revision"]
        else:
            found = answer["responses"][0]["response_range"].get("kvs", [])
            self.token = next((kv["create_revision"] for kv in found if kv["value"] == self.owner), None)
        return self.token is not None

    def drop(self):
        """Deletes the key if it is still the one that was created, and ends the lease."""
        answer = call("kv/txn", {
            "compare": [{"target": "CREATE", "key": self.key, "create_revision": self.token}],
            "success": [{"request_delete_range": {"key": self.key}}],
        })
        self.end()
        return answer.get("succeeded", False)

    def end(self):
        try:
            call("lease/revoke", {"ID": self.lease})
        except (OSError, LookupError):
            pass  # It runs out.


def acquire(key, wait):
    grant, until = Grant(key), time.monotonic() + wait
    try:
        while True:
            # A lease that is half over is little worth once the key is there.
            if grant.expires - now_ms() < ttl * 500 and not grant.extend():
                grant = Grant(key)
            if grant.take():
                if now_ms() < grant.expires:
                    return grant
                grant.drop()  # The answer came too late.
            if time.monotonic() >= until:
                grant.end()
                return None
            time.sleep(0.1)
    except LookupError:
        return acquire(key, until - time.monotonic())  # The lease ran out while it was waited for.
    except OSError:
        grant.end()
        raise


gc.freeze()
for line in sys.stdin:
    verb, key, *rest = line.split()
    try:
        if verb == "acquire":
            grant = acquire(key, int(rest[0]) / 1000)
            if grant:
                held[key] = grant
                print(f"granted token={grant.token} expires_ms={grant.expires}", flush=True)
            else:
                print("refused", flush=True)
        elif verb == "renew":
            print(f"renewed expires_ms={held[key].expires}" if held[key].extend() else "lost", flush=True)
        else:
            print("released" if held.pop(key).drop() else "error it was not held any more", flush=True)
    except (OSError, LookupError) as error:
        print("error", error, flush=True)
