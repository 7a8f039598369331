"""Random sessions on the nodes of two Redis Clusters at once, real and simulated, which are compared reply by reply.

Six real nodes (redis-server, cluster-enabled) run beside `picklock serve --topology cluster:3`: the same shards, the same slots, a
replica each. A session picks a node at random for each command, follows MOVED and ASK as a client does or takes them for the answer,
and moves slots between nodes. Addresses and names of nodes are replaced by the number of the node before replies are compared.

Both clusters are not asked in the same instant. Where a lease that both have granted ends while they are asked, their replies may differ;
such a session is given up, counted and printed, and is no difference.
"""

import argparse
import random
import re
import sys
import tempfile
import time

from cluster_nodes import NODES, Node, real_nodes, simulated_nodes

LEASE = 60
# A server reads its clock in milliseconds, and a little before or after its client does.
CLOCK = 0.002

KEYS = [b"lock:1", b"lock:2", b"lock:3", b"{lock:1}a", b"{lock:1}b", b"{lock:2}a", b"foo", b"a{b}c", b"x{}y", b"{}", b"{x", b""]

# How the keys are shown, those of hashes as well.
NAMES = {(kind + key).decode() for key in KEYS for kind in (b"", b"h")}
# Expired keys are counted until they are deleted, which a server does a few times in a second.
DELETION = 0.3


class Cluster:
    """All nodes of one cluster."""

    def __init__(self, ports):
        self.nodes = [Node(port) for port in ports]
        self.ports = ports
        self.ids = [node.call("CLUSTER", "MYID").decode() for node in self.nodes]

    def plain(self, reply):
        """A reply without what differs between two clusters."""
        if isinstance(reply, list):
            return [self.plain(part) for part in reply]
        is_bytes = isinstance(reply, bytes)
        text = reply.decode(errors="replace") if is_bytes else reply
        if not isinstance(text, str):
            return "port %d" % self.ports.index(text) if text in self.ports else text
        for at, port in enumerate(self.ports):
            text = text.replace("127.0.0.1:%d@%d" % (port, (port + 10000) % 65536), "<node %d>" % at)
            text = text.replace("127.0.0.1:%d" % port, "<node %d>" % at)
        for at, name in enumerate(self.ids):
            text = text.replace(name, "<name %d>" % at)
        return text


def command(rng, key):
    """A command on a key, or on several."""
    other = rng.choice(KEYS)
    script = "return redis.call('get', KEYS[1])"
    choices = [
        ("SET", key, rng.randrange(9)),
        ("SET", key, rng.randrange(9), "NX", "PX", 1000 * LEASE),
        ("GET", key),
        ("INCR", key),
        ("DEL", key),
        ("EXISTS", key, other),
        ("MGET", key, other),
        ("MSET", key, 1, other, 2),
        ("EVAL", script, 1, key),
        ("EVAL", script, 2, key, other),
        ("EVAL", "return redis.call('get', ARGV[1])", 1, key, other),
        ("EVAL", "return redis.call('set', KEYS[1], ARGV[1])", 1, key, rng.randrange(9)),
        ("EVAL", "return 1", 0),
        ("HSET", b"h" + key, "f", 1),
        ("SPUBLISH", key, "x"),
        ("PUBLISH", key, "x"),
        ("WATCH", key),
        ("CLUSTER", "KEYSLOT", key),
        ("CLUSTER", "COUNTKEYSINSLOT", rng.choice([3430, 15621, 11556, 16384, -1, "x"])),
        ("CLUSTER", "GETKEYSINSLOT", rng.choice([3430, 15621]), rng.choice([0, 100, -1])),
        ("CLUSTER", "SLOTS"),
        ("CLUSTER", "NOSUCH"),
        ("CLUSTER", "SETSLOT", "x", "STABLE"),
        ("CLUSTER", "SETSLOT", 3430, "NODE", "nobody"),
        ("CLUSTER", "SETSLOT", 3430, "IMPORTING", "nobody"),
        ("CLUSTER", "SETSLOT", 3430, "MIGRATING", "nobody"),
        ("CLUSTER", "SETSLOT", 3430, "WHAT"),
        ("CLUSTER", "REPLICAS", "nobody"),
        ("CLUSTER", "FORGET", "nobody"),
        ("CLUSTER", "FAILOVER", "WHAT"),
        ("CLUSTER", "MEET", "nowhere", rng.choice([7000, 0, "x"])),
        ("CLUSTER", "RESET", rng.choice(["WHAT", "x"])),
        ("CLUSTER", "ADDSLOTS", rng.choice([3430, 16384, "x"])),
        ("CLUSTER", "COUNT-FAILURE-REPORTS", "nobody"),
        ("ASKING",),
        ("READONLY",),
        ("READWRITE",),
        ("SELECT", rng.randrange(2)),
        ("REPLICAOF", "NO", "ONE"),
        ("MULTI",),
        ("EXEC",),
        ("DISCARD",),
        ("MIGRATE", "127.0.0.1", 1, key, 0),
        ("INFO", "cluster"),
    ]
    return rng.choice(choices)


def order(words, reply):
    """CLUSTER SLOTS with its replicas in one order, and the keys of a slot: Redis names the newest first."""
    if words[:2] == ("CLUSTER", "GETKEYSINSLOT") and isinstance(reply, list):
        return sorted(reply)
    if words == ("EXEC",) and isinstance(reply, list):
        return [sorted(part) if isinstance(part, list) and all(str(word) in NAMES for word in part) else part for part in reply]
    if isinstance(reply, list) and reply and all(isinstance(row, list) and len(row) > 2 for row in reply):
        return [row[:3] + sorted(row[3:], key=str) for row in reply]
    return reply


class Log:
    """What was asked and answered in a session, and when leases end."""

    def __init__(self):
        self.lines = []
        # The span in which both clusters granted, later by a lease.
        self.ends = []
        self.was_timing = False

    def add(self, began, at, words, replies):
        """One command and its two replies. True if they are alike."""
        now = time.monotonic()
        self.lines.append((at, words, replies))
        if "PX" in words or words[0] == "EXEC":
            self.ends.append((began + LEASE, now + LEASE))
        if replies[0] == replies[1]:
            return True
        counts = words[0] == "EXEC" or words[1:2] in (("COUNTKEYSINSLOT",), ("GETKEYSINSLOT",))
        since = began - (DELETION if counts else 0)
        ended = [end for end in self.ends if end[0] - CLOCK <= now and since - CLOCK <= end[1]]
        for first, last in self.ends:
            if began - 1 < first < now + 1:
                print("a lease ends at %.1f to %.1f ms" % (1000 * (first - began), 1000 * (last - began)))
        for node, words, (one, two) in self.lines[-12:]:
            print("node %d %r\n  real      %r\n  simulated %r" % (node, words, one, two))
        for first, last in ended:
            print("asked for %.1f ms; a lease ended %.1f to %.1f ms after the start" % tuple(1000 * (t - began) for t in (now, first, last)))
        self.was_timing = bool(ended)
        return False

    def begin(self):
        """Another session: leases go on."""
        now = time.monotonic()
        self.lines, self.was_timing = [], False
        self.ends = [end for end in self.ends if end[1] > now - 1]


def compare(clusters, at, words, log):
    began = time.monotonic()
    replies = [order(words, cluster.plain(cluster.nodes[at].call(*words))) for cluster in clusters]
    return log.add(began, at, words, replies)


def move(clusters, rng, log):
    """Moves a slot from its primary to another, perhaps with commands half-way. True if all replies are alike."""
    slot = rng.choice([3430, 15621, 11556])
    rows = [row for row in clusters[0].nodes[0].call("CLUSTER", "SLOTS") if row[0] <= slot <= row[1]]
    source = clusters[0].ports.index(rows[0][2][1])
    target = rng.choice([at for at in range(3) if at != source])

    def both(at, *words):
        began, replies = time.monotonic(), []
        for cluster in clusters:
            said = [cluster.ids[word[1]] if isinstance(word, tuple) else word for word in words]
            said = [cluster.ports[word[0]] if isinstance(word, list) else word for word in said]
            replies.append(cluster.plain(cluster.nodes[at].call(*said)))
        return log.add(began, at, words, replies)

    alike = both(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", ("id", source))
    alike &= both(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", ("id", target))
    for _ in range(rng.randrange(8)):
        at, words = rng.choice([source, target]), command(rng, rng.choice(KEYS))
        if words[0] not in ("CLUSTER", "MULTI", "EXEC", "SELECT"):
            alike = alike and compare(clusters, at, words, log)
    asked, began = ("CLUSTER", "GETKEYSINSLOT", slot, 100), time.monotonic()
    keys = [sorted(cluster.nodes[source].call(*asked)) for cluster in clusters]
    alike = log.add(began, source, asked, keys) and alike
    for key in keys[0]:
        alike = alike and both(source, "MIGRATE", "127.0.0.1", [target], key, 0, 5000)
    alike = alike and both(target, "CLUSTER", "SETSLOT", slot, "NODE", ("id", target))
    alike = alike and both(source, "CLUSTER", "SETSLOT", slot, "NODE", ("id", target))
    time.sleep(0.5)
    return alike


def settle(clusters):
    """Leaves the state of connections behind."""
    for cluster in clusters:
        for node in cluster.nodes:
            node.call("RESET")
            node.call("READWRITE")


def empty(clusters):
    """Takes all keys away: a grant that only one cluster has made would be seen later."""
    settle(clusters)
    for cluster in clusters:
        for node in cluster.nodes[:3]:
            node.call("FLUSHALL")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--picklock", required=True)
    parser.add_argument("--port", type=int, default=17_001)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    processes, done, timing, log = [], 0, 0, Log()
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            ports, processes = real_nodes(args.port, directory)
            served, process = simulated_nodes(args.picklock, args.port + 100)
            processes += process
            clusters = [Cluster(ports), Cluster(served)]
            for session in range(args.sessions):
                rng = random.Random(args.seed * 1000 + session)
                settle(clusters)
                log.begin()
                for _ in range(args.commands):
                    if rng.randrange(60) == 0:
                        settle(clusters)
                        alike = move(clusters, rng, log)
                    else:
                        alike = compare(clusters, rng.randrange(NODES), command(rng, rng.choice(KEYS)), log)
                    if log.was_timing:
                        timing += 1
                        empty(clusters)
                        break
                    if not alike:
                        print("session %d differs after %d commands" % (session, len(log.lines)))
                        return 1
                    done += 1
                if session % 10 == 9:
                    print("%d sessions, %d commands" % (session + 1, done), flush=True)
            print("%d sessions, %d commands: no difference, %d ended with a lease" % (args.sessions, done, timing))
            return 0
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
