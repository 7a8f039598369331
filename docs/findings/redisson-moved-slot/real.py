"""The same on six real nodes of a Redis Cluster, in real time: who waits while the slot moves is not let in later.

    examples/adapters/build && python3 docs/findings/redisson-moved-slot/real.py

Needs redis-server 7.0 and Java. It takes two minutes, and prints how long each attempt of the second client lasted after the release.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/external"))
from cluster_nodes import SHARDS, Node, real_nodes  # noqa: E402

LOCK, WAIT_MS = "lock:1", 100_000
JAVA = "java -XX:+UseSerialGC -Xlog:disable -cp {0}/lib/*:{0}/adapters.jar RedissonLocks lock"


class Client:
    """A process of Redisson with a watchdog of ten seconds."""

    def __init__(self, ports):
        nodes = ["127.0.0.1:%d" % port for port in ports]
        more = {"PICKLOCK_TTL_MS": "10000", "PICKLOCK_CLUSTER": ",".join(nodes)}
        more["PICKLOCK_STORES"] = ",".join("redis://" + node for node in nodes)
        command = JAVA.format(TOP / "target/adapters/java").split()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, env={**os.environ, **more}, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def send(self, *words):
        print(*words, file=self.process.stdin, flush=True)

    def answer(self):
        return self.process.stdout.readline().strip()

    def ask(self, *words):
        self.send(*words)
        return self.answer()


def move(ports):
    """Moves the slot of the lock to the next shard, as redis-cli does."""
    nodes = [Node(port) for port in ports[:3]]
    slot = nodes[0].call("CLUSTER", "KEYSLOT", LOCK)
    source = next(at for at, (first, last) in enumerate(SHARDS) if first <= slot <= last)
    target = (source + 1) % 3
    ids = [node.call("CLUSTER", "MYID") for node in nodes]
    nodes[target].call("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
    nodes[source].call("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
    keys = nodes[source].call("CLUSTER", "GETKEYSINSLOT", slot, 100)
    nodes[source].call("MIGRATE", "127.0.0.1", ports[target], "", 0, 5000, "KEYS", *keys)
    for at in (target, source, 3 - target - source):
        nodes[at].call("CLUSTER", "SETSLOT", slot, "NODE", ids[target])


def main():
    with tempfile.TemporaryDirectory() as directory:
        ports, servers = real_nodes(17101, directory)
        clients = [Client(ports), Client(ports)]
        holder, waiter = clients
        try:
            for attempt in range(2):
                print("holder:", holder.ask("acquire", LOCK, WAIT_MS))
                waiter.send("acquire", LOCK, WAIT_MS)
                time.sleep(2)
                if attempt == 0:
                    move(ports)
                    # Redisson asks every five seconds where the slots are.
                    time.sleep(6)
                print("holder:", holder.ask("release", LOCK))
                begin = time.time()
                print("waiter:", waiter.answer(), "%.1f s after the release" % (time.time() - begin))
                if attempt == 0:
                    waiter.ask("release", LOCK)
        finally:
            for process in servers + [client.process for client in clients]:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
