"""Assertions of Redis's own cluster tests, against whichever six nodes are there: three shards, a replica each.

    cluster-units.py HOST:PORT [WORD]

The tests are those of tests/unit/cluster*.tcl, tests/unit/pubsubshard.tcl and tests/cluster/tests of Redis 7.0.15 on scripts, sharded
Pub/Sub, who has a slot, commands on several slots, shards, replicas and failovers by hand. Redis starts and kills the servers of its tests;
here one cluster is used as it is given, and left as it was found. So what needs a server killed, a fresh node or hostnames is left out.
With WORD only tests are run whose names contain it. `cluster_nodes.py` starts the nodes.
"""

import random
import shutil
import subprocess
import sys
import time

from cluster_nodes import Node

TESTS = []


def test(name):
    def add(function):
        TESTS.append((name, function))
        return function

    return add


class Failed(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(repr(part)[:300] for part in what) or "not so")


def equal(is_, should):
    check(is_ == should, is_, "is not", should)


def begins(reply, text):
    check(isinstance(reply, str) and reply.startswith("-" + text), reply, "is not the error", text)


def within(seconds, condition, what):
    until = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < until, what, "not within %d s" % seconds)
        time.sleep(0.05)


class Client(Node):
    """A connection whose replies may be read later. Maps come as lists, pushes as any reply."""

    def send(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"".join(parts))

    def reply(self):
        line = self.file.peek(1)[:1]
        if line in b">%~":
            kind, size = self.file.read(1), int(self.file.readline())
            return [self.reply() for _ in range(2 * size if kind == b"%" else size)]
        if line == b"_":
            self.file.readline()
            return None
        return super().reply()

    def is_silent(self, seconds):
        """True if nothing comes. Nothing is read from this client afterwards."""
        self.socket.settimeout(seconds)
        try:
            return not self.file.peek(1)
        except TimeoutError:
            return True

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Cluster:
    """The nodes as the first one knows them."""

    def __init__(self, port):
        self.seed = Client(port)
        self.nodes = {}
        self.refresh()

    def refresh(self):
        self.rows = []
        for line in self.seed.call("CLUSTER", "NODES").decode().splitlines():
            words = line.split()
            port = int(words[1].split("@")[0].rsplit(":")[-1])
            primary = None if words[3] == "-" else words[3]
            self.rows.append({"id": words[0], "port": port, "primary": primary, "flags": words[2].split(",")})
            if port not in self.nodes:
                self.nodes[port] = Client(port)
        self.rows.sort(key=lambda row: row["port"])

    def call(self, port, *words):
        return self.nodes[port].call(*words)

    def row(self, port):
        return next(row for row in self.rows if row["port"] == port)

    def id(self, port):
        return self.row(port)["id"]

    def primaries(self):
        self.refresh()
        return [row["port"] for row in self.rows if row["primary"] is None]

    def replica_of(self, port):
        self.refresh()
        return next(row["port"] for row in self.rows if row["primary"] == self.id(port))

    def owner(self, slot):
        rows = [row for row in self.seed.call("CLUSTER", "SLOTS") if row[0] <= slot <= row[1]]
        check(rows, "nobody has slot", slot)
        return rows[0][2][1]

    def other(self, port):
        return next(other for other in self.primaries() if other != port)

    def slot(self, key):
        return self.seed.call("CLUSTER", "KEYSLOT", key)

    def keys_of(self, port, count, prefix="key"):
        """So many keys of one primary, each in a slot of its own."""
        found, slots = [], set()
        for number in range(100_000):
            key = "%s%d" % (prefix, number)
            slot = self.slot(key)
            if slot not in slots and self.owner(slot) == port:
                found.append(key)
                slots.add(slot)
            if len(found) == count:
                return found
        raise Failed("no keys of this node")

    def state(self, port):
        return b"cluster_state:ok" in self.call(port, "CLUSTER", "INFO")

    def is_whole(self):
        """True if all nodes agree, and nobody is missed."""
        owned = set()
        for port in list(self.nodes):
            if not self.state(port):
                return False
            text = self.call(port, "CLUSTER", "NODES").decode()
            if "fail" in text or "handshake" in text:
                return False
            rows = self.call(port, "CLUSTER", "SLOTS")
            if sum(row[1] - row[0] + 1 for row in rows) != 16384:
                return False
            if not all(len(row) == 4 for row in rows):
                return False
            owned.add(str(sorted((row[0], row[1], row[2][1]) for row in rows)))
        return len(owned) == 1

    def settle(self):
        within(40, self.is_whole, "the cluster is not whole")

    def follow(self, *words):
        """A command at whoever has its key, as a client of clusters does it."""
        port = random.choice(self.primaries())
        for _ in range(64):
            reply = self.call(port, *words)
            if isinstance(reply, str) and reply.startswith("-MOVED"):
                port = int(reply.rsplit(":")[-1])
            elif isinstance(reply, str) and reply.startswith("-ASK "):
                port = int(reply.rsplit(":")[-1])
                self.call(port, "ASKING")
                reply = self.call(port, *words)
                if not (isinstance(reply, str) and reply.startswith("-TRYAGAIN")):
                    return reply
            elif isinstance(reply, str) and reply.startswith(("-CLUSTERDOWN", "-TRYAGAIN")):
                time.sleep(0.1)
            else:
                return reply
        raise Failed("nobody executes " + repr(words))

    def give(self, slot, source, target):
        """A slot changes its primary, whose keys were moved before."""
        equal(self.call(target, "CLUSTER", "SETSLOT", slot, "NODE", self.id(target)), "+OK")
        equal(self.call(source, "CLUSTER", "SETSLOT", slot, "NODE", self.id(target)), "+OK")

    def move(self, slot, source, target):
        """A slot changes its primary with its keys."""
        self.open(slot, source, target)
        keys = self.call(source, "CLUSTER", "GETKEYSINSLOT", slot, 1000)
        if keys:
            equal(self.call(source, "MIGRATE", "127.0.0.1", target, "", 0, 5000, "KEYS", *keys), "+OK")
        self.give(slot, source, target)

    def open(self, slot, source, target):
        self.refresh()
        equal(self.call(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", self.id(source)), "+OK")
        equal(self.call(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", self.id(target)), "+OK")

    def stable(self, slot, *ports):
        for port in ports:
            self.call(port, "CLUSTER", "SETSLOT", slot, "STABLE")


def info(client, section, name):
    for line in client.call("INFO", section).decode().splitlines():
        if line.startswith(name + ":"):
            return line[len(name) + 1 :]
    return ""


def slots_of(cluster, port):
    """The ranges of slots that a node says it has, as in its line of CLUSTER NODES."""
    line = next(line for line in cluster.call(port, "CLUSTER", "NODES").decode().splitlines() if "myself" in line)
    return " ".join(word for word in line.split()[8:] if not word.startswith("["))


def rows_of(cluster, port):
    """The same as in its CLUSTER SLOTS."""
    rows = [row for row in cluster.call(port, "CLUSTER", "SLOTS") if row[2][1] == port]
    return " ".join(str(row[0]) if row[0] == row[1] else "%d-%d" % tuple(row[:2]) for row in sorted(rows))


# tests/cluster/tests/00-base.tcl


@test("Different nodes have different IDs")
def _(cluster):
    ids = {cluster.call(port, "CLUSTER", "MYID") for port in cluster.nodes}
    equal(len(ids), len(cluster.nodes))


@test("After the join, every node gets a different config epoch")
def _(cluster):
    def differ():
        for port in cluster.nodes:
            lines = [line.split() for line in cluster.call(port, "CLUSTER", "NODES").decode().splitlines()]
            # A replica shows the epoch of its primary.
            epochs = [line[6] for line in lines if line[3] == "-"]
            if len(set(epochs)) != len(epochs):
                return False
        return True

    within(60, differ, "different epochs")


@test("Nodes should report cluster_state is ok now")
def _(cluster):
    check(all(cluster.state(port) for port in cluster.nodes))


@test("Sanity for CLUSTER COUNTKEYSINSLOT")
def _(cluster):
    for port in cluster.primaries():
        equal(cluster.call(port, "CLUSTER", "COUNTKEYSINSLOT", 0), 0)


@test("It is possible to write and read from the cluster")
def _(cluster):
    for number in range(100):
        equal(cluster.follow("SET", "key.%d" % number, "value.%d" % number), "+OK")
    for number in range(100):
        equal(cluster.follow("GET", "key.%d" % number), b"value.%d" % number)


@test("Script no-cluster flag")
def _(cluster):
    reply = cluster.call(cluster.primaries()[1], "EVAL", "#!lua flags=no-cluster\nreturn 1", 0)
    check("Can not run script on cluster, 'no-cluster' flag is set" in str(reply), reply)


# tests/cluster/tests/09-pubsub.tcl


def publish_from(cluster, sender):
    listeners = [Client(port) for port in cluster.nodes if port != sender]
    for listener in listeners:
        equal(listener.call("SUBSCRIBE", "testchannel"), [b"subscribe", b"testchannel", 1])
    data = "%d" % random.randrange(10**9)
    cluster.call(sender, "PUBLISH", "testchannel", data)
    for listener in listeners:
        equal(listener.reply(), [b"message", b"testchannel", data.encode()])
        equal(listener.call("UNSUBSCRIBE", "testchannel"), [b"unsubscribe", b"testchannel", 0])
        listener.close()


@test("Test publishing to master")
def _(cluster):
    publish_from(cluster, cluster.primaries()[0])


@test("Test publishing to slave")
def _(cluster):
    publish_from(cluster, cluster.replica_of(cluster.primaries()[0]))


# tests/cluster/tests/15-cluster-slots.tcl


@test("client do not break when cluster slot")
def _(cluster):
    port = cluster.primaries()[0]
    equal(cluster.call(port, "CONFIG", "SET", "client-output-buffer-limit", "normal 33554432 16777216 60"), "+OK")
    try:
        check(isinstance(cluster.call(port, "CLUSTER", "SLOTS"), list))
    finally:
        cluster.call(port, "CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")


@test("client can handle keys with hash tag")
def _(cluster):
    equal(cluster.follow("SET", "foo{tag}", "bar"), "+OK")
    equal(cluster.slot("foo{tag}"), cluster.slot("tag"))


@test("slot migration is valid from primary to another primary")
def _(cluster):
    slot = cluster.slot("order1")
    source = cluster.owner(slot)
    target = cluster.other(source)
    equal(cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
    equal(cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
    # Nobody has said that the slot moved, so that only the former primary knows at first; it is given back for the tests that follow.
    cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(source))
    cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(source))


@test("slot migration is invalid from primary to replica")
def _(cluster):
    slot = cluster.slot("order1")
    source = cluster.owner(slot)
    names = cluster.call(source, "CLUSTER", "REPLICAS", cluster.id(source))
    reply = cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", names[0].decode().split()[0])
    check(str(reply).endswith("Target node is not a master"), reply)


def bound(cluster, port):
    return sum(row[1] - row[0] + 1 for row in cluster.call(port, "CLUSTER", "SLOTS"))


@test("slot must be unbound on the owner when it is deleted")
def _(cluster):
    one, two = cluster.primaries()[:2]
    equal((bound(cluster, one), bound(cluster, two)), (16384, 16384))
    equal(cluster.call(one, "CLUSTER", "DELSLOTS", 0), "+OK")
    try:
        within(10, lambda: bound(cluster, one) == 16383, "the slot is unbound at its owner")
        within(10, lambda: bound(cluster, two) == 16384, "others do not hear of it")
    finally:
        equal(cluster.call(one, "CLUSTER", "ADDSLOTS", 0), "+OK")


# tests/cluster/tests/16-transactions-on-replica.tcl


def pair(cluster):
    """A primary, a client of its replica, and three keys of it in one slot."""
    port = cluster.primaries()[0]
    name = cluster.keys_of(port, 1)[0]
    return cluster.nodes[port], Client(cluster.replica_of(port)), ["{%s}%s" % (name, end) for end in "ahx"]


def same_offset(primary, replica):
    within(10, lambda: info(primary, "replication", "master_repl_offset") == info(replica, "replication", "slave_repl_offset"), "in step")


@test("Can't read from replica without READONLY")
def _(cluster):
    primary, replica, (a, _, _) = pair(cluster)
    equal(primary.call("SET", a, 1), "+OK")
    same_offset(primary, replica)
    begins(replica.call("GET", a), "MOVED")


@test("Can read from replica after READONLY")
def _(cluster):
    primary, replica, (a, _, _) = pair(cluster)
    equal(replica.call("READONLY"), "+OK")
    equal(replica.call("GET", a), b"1")


@test("Can perform HSET primary and HGET from replica")
def _(cluster):
    primary, replica, (_, h, _) = pair(cluster)
    replica.call("READONLY")
    for field, value in zip("abc", "123"):
        primary.call("HSET", h, field, value)
    same_offset(primary, replica)
    equal([replica.call("HGET", h, field) for field in "abc"], [b"1", b"2", b"3"])


@test("Can MULTI-EXEC transaction of HGET operations from replica")
def _(cluster):
    _, replica, (_, h, _) = pair(cluster)
    replica.call("READONLY")
    equal(replica.call("MULTI"), "+OK")
    equal([replica.call("HGET", h, field) for field in "abc"], ["+QUEUED"] * 3)
    equal(replica.call("EXEC"), [b"1", b"2", b"3"])


@test("MULTI-EXEC with write operations is MOVED")
def _(cluster):
    _, replica, (_, h, _) = pair(cluster)
    replica.call("READONLY")
    replica.call("MULTI")
    begins(replica.call("HSET", h, "b", 4), "MOVED")
    begins(replica.call("EXEC"), "EXECABORT")


@test("reply MOVED when eval from replica for update")
def _(cluster):
    _, replica, (a, _, _) = pair(cluster)
    replica.call("READONLY")
    begins(replica.call("EVAL", "#!lua\nreturn redis.call('del','a')\n", 1, a), "MOVED")


# tests/cluster/tests/18-info.tcl


@test("errorstats: rejected call due to MOVED Redirection")
def _(cluster):
    one, two = (cluster.nodes[port] for port in cluster.primaries()[:2])
    key = cluster.keys_of(one.port, 1)[0]
    for node in (one, two):
        equal(node.call("CONFIG", "RESETSTAT"), "+OK")
        equal(info(node, "errorstats", "errorstat_MOVED"), "")
    equal(one.call("SET", key, "b"), "+OK")
    begins(two.call("SET", key, "b"), "MOVED")
    equal(info(one, "errorstats", "errorstat_MOVED"), "")
    equal(info(two, "errorstats", "errorstat_MOVED"), "count=1")
    stat = info(two, "commandstats", "cmdstat_set")
    check(stat.startswith("calls=0,") and stat.endswith(",rejected_calls=1,failed_calls=0"), stat)


# tests/cluster/tests/19-cluster-nodes-slots.tcl and 23-multiple-slot-operations.tcl


def span(cluster, port):
    """The first and the last slot of a node that has one range, and no keys in it."""
    cluster.call(port, "FLUSHALL")
    words = slots_of(cluster, port)
    check("-" in words and " " not in words, words, "is not one range")
    return tuple(int(word) for word in words.split("-"))


def shows(cluster, port, text):
    equal(slots_of(cluster, port), text)
    equal(rows_of(cluster, port), text)


@test("Continuous slots distribution")
def _(cluster):
    for port in cluster.primaries()[:2]:
        first, last = span(cluster, port)
        middle = (first + last) // 2
        shows(cluster, port, "%d-%d" % (first, last))
        try:
            equal(cluster.call(port, "CLUSTER", "DELSLOTS", middle), "+OK")
            shows(cluster, port, "%d-%d %d-%d" % (first, middle - 1, middle + 1, last))
        finally:
            cluster.call(port, "CLUSTER", "ADDSLOTS", middle)


@test("Discontinuous slots distribution")
def _(cluster):
    for port in cluster.primaries()[:2]:
        first, last = span(cluster, port)
        m = (first + last) // 2
        gone = []

        def delete(*slots):
            gone.extend(slots)
            equal(cluster.call(port, "CLUSTER", "DELSLOTS", *slots), "+OK")

        try:
            # Middle slots, the head, the tail.
            delete(m)
            delete(m - 4, m - 2)
            middle = "%d %d %d-" % (m - 3, m - 1, m + 1)
            shows(cluster, port, "%d-%d %s%d" % (first, m - 5, middle, last))
            delete(first, first + 2)
            shows(cluster, port, "%d %d-%d %s%d" % (first + 1, first + 3, m - 5, middle, last))
            delete(last - 3, last - 1, last)
            shows(cluster, port, "%d %d-%d %s%d %d" % (first + 1, first + 3, m - 5, middle, last - 4, last - 2))
        finally:
            cluster.call(port, "CLUSTER", "ADDSLOTS", *gone)


@test("Continuous slots distribution (ranges)")
def _(cluster):
    for at, port in enumerate(cluster.primaries()):
        first, last = span(cluster, port)
        holes = [(first + 3001, first + 3050)] + [(first + 4001, first + 4500)] * (at > 0)
        words = [slot for hole in holes for slot in hole]
        try:
            equal(cluster.call(port, "CLUSTER", "DELSLOTSRANGE", *words), "+OK")
            edges = [first] + [edge for start, end in holes for edge in (start - 1, end + 1)] + [last]
            shows(cluster, port, " ".join("%d-%d" % pair for pair in zip(edges[::2], edges[1::2])))
        finally:
            cluster.call(port, "CLUSTER", "ADDSLOTSRANGE", *words)


def range_errors(cluster, port, command, hole, cases):
    """What the command says of each case while these slots are nobody's, and that it changes nothing."""
    equal(cluster.call(port, "CLUSTER", "DELSLOTSRANGE", *hole), "+OK")
    try:
        before = slots_of(cluster, port)
        for words, error in cases:
            equal(cluster.call(port, "CLUSTER", command, *words), "-ERR " + error)
            shows(cluster, port, before)
    finally:
        cluster.call(port, "CLUSTER", "ADDSLOTSRANGE", *hole)


INVALID = "Invalid or out of range slot"


@test("ADDSLOTSRANGE command with several boundary conditions test suite")
def _(cluster):
    port = cluster.primaries()[0]
    first, _ = span(cluster, port)
    a, b = first + 3001, first + 3050
    cases = [
        ((a, a + 19, a + 29), "wrong number of arguments for 'cluster|addslotsrange' command"),
        ((a, a + 19, a + 29, "aaa"), INVALID),
        ((a, a + 19, a + 29, 70000), INVALID),
        ((a, a + 19, -1000, a + 29), INVALID),
        ((a, a + 19, a + 29, a + 24), "start slot number %d is greater than end slot number %d" % (a + 29, a + 24)),
        ((a, a + 19, b + 150, b + 200), "Slot %d is already busy" % (b + 150)),
        ((a, a + 19, a, a + 19), "Slot %d specified multiple times" % a),
    ]
    range_errors(cluster, port, "ADDSLOTSRANGE", (a, b), cases)


@test("DELSLOTSRANGE command with several boundary conditions test suite")
def _(cluster):
    port = cluster.primaries()[1]
    first, _ = span(cluster, port)
    a, b = first + 1001, first + 1100
    swapped = (first + 500, first + 450)
    cases = [
        ((first, first + 99, first + 199), "wrong number of arguments for 'cluster|delslotsrange' command"),
        ((first, first + 99, first + 199, "aaa"), INVALID),
        ((first, first + 99, first + 199, 70000), INVALID),
        ((first, first + 99, -2100, first + 299), INVALID),
        ((first + 300, first + 400, *swapped), "start slot number %d is greater than end slot number %d" % swapped),
        ((a, b, b + 100, b + 300), "Slot %d is already unassigned" % a),
        ((b + 100, b + 200, b + 100, b + 200), "Slot %d specified multiple times" % (b + 100)),
    ]
    range_errors(cluster, port, "DELSLOTSRANGE", (a, b), cases)


# tests/cluster/tests/25-pubsubshard-slot-migration.tcl


def ssubscribe(client, *channels):
    client.send("SSUBSCRIBE", *channels)
    replies = [client.reply() for _ in channels]
    for reply, channel in zip(replies, channels):
        check(isinstance(reply, list) and reply[:2] == [b"ssubscribe", channel.encode()], reply)
    return [reply[2] for reply in replies]


def sunsubscribe(client, *channels):
    client.send("SUNSUBSCRIBE", *channels)
    return [client.reply()[2] for _ in channels]


@test("Migrate a slot, verify client receives sunsubscribe on primary serving the slot.")
def _(cluster):
    slot = cluster.slot("mychannel")
    source = cluster.owner(slot)
    target = cluster.other(source)
    with Client(source) as client:
        equal(ssubscribe(client, "mychannel"), [1])
        cluster.open(slot, source, target)
        cluster.call(source, "SPUBLISH", "mychannel", "hello")
        equal(client.reply(), [b"smessage", b"mychannel", b"hello"])
        equal(cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
        equal(client.reply(), [b"sunsubscribe", b"mychannel", 0])
        equal(cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
    cluster.settle()
    cluster.move(slot, target, source)


@test("Client subscribes to multiple channels, migrate a slot, verify client receives sunsubscribe on primary serving the slot.")
def _(cluster):
    source = cluster.primaries()[0]
    channel, another = cluster.keys_of(source, 2, "ch")
    slot, target = cluster.slot(channel), cluster.other(source)
    with Client(source) as client:
        equal(ssubscribe(client, channel) + ssubscribe(client, another), [1, 2])
        cluster.open(slot, source, target)
        cluster.call(source, "SPUBLISH", channel, "hello")
        equal(client.reply(), [b"smessage", channel.encode(), b"hello"])
        equal(cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
        equal(client.reply(), [b"sunsubscribe", channel.encode(), 1])
        equal(cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
        cluster.call(source, "SPUBLISH", another, "hello")
        equal(client.reply(), [b"smessage", another.encode(), b"hello"])
    cluster.settle()
    cluster.move(slot, target, source)


@test("Migrate a slot, verify client receives sunsubscribe on replica serving the slot.")
def _(cluster):
    slot = cluster.slot("mychannel1")
    source = cluster.owner(slot)
    target = cluster.other(source)
    with Client(cluster.replica_of(source)) as client:
        equal(ssubscribe(client, "mychannel1"), [1])
        cluster.open(slot, source, target)
        cluster.call(source, "SPUBLISH", "mychannel1", "hello")
        equal(client.reply(), [b"smessage", b"mychannel1", b"hello"])
        cluster.call(source, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target))
        cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target))
        equal(client.reply(), [b"sunsubscribe", b"mychannel1", 0])
    cluster.settle()
    cluster.move(slot, target, source)


@test("Delete a slot, verify sunsubscribe message")
def _(cluster):
    slot = cluster.slot("ch2")
    port = cluster.owner(slot)
    cluster.call(port, "FLUSHALL")
    with Client(port) as client:
        equal(ssubscribe(client, "ch2"), [1])
        try:
            equal(cluster.call(port, "CLUSTER", "DELSLOTS", slot), "+OK")
            equal(client.reply(), [b"sunsubscribe", b"ch2", 0])
        finally:
            cluster.call(port, "CLUSTER", "ADDSLOTS", slot)


@test("Reset cluster, verify sunsubscribe message")
def _(cluster):
    # The node is given its slots again, so that the reset is a soft one: it keeps its name.
    port = cluster.primaries()[0]
    first, last = span(cluster, port)
    channel, epoch = cluster.keys_of(port, 1, "ch")[0], info_of(cluster, port, "cluster_current_epoch")
    with Client(port) as client:
        equal(ssubscribe(client, channel), [1])
        equal(cluster.call(port, "CLUSTER", "RESET", "SOFT"), "+OK")
        try:
            equal(client.reply(), [b"sunsubscribe", channel.encode(), 0])
            # CLUSTER RESET SOFT test: the epoch is kept.
            equal(info_of(cluster, port, "cluster_current_epoch"), epoch)
        finally:
            for other in list(cluster.nodes):
                if other != port:
                    cluster.call(port, "CLUSTER", "MEET", "127.0.0.1", other)
            within(20, lambda: b"cluster_known_nodes:6" in cluster.call(port, "CLUSTER", "INFO"), "known again")
            cluster.call(port, "CLUSTER", "ADDSLOTSRANGE", first, last)
            cluster.settle()


def info_of(cluster, port, name):
    lines = cluster.call(port, "CLUSTER", "INFO").decode().splitlines()
    return next(line.split(":")[1] for line in lines if line.startswith(name + ":"))


# tests/cluster/tests/26-pubsubshard.tcl


@test("Pub/Sub shard basics")
def _(cluster):
    port = cluster.owner(cluster.slot("channel.0"))
    with Client(port) as one, Client(port) as two, Client(cluster.other(port)) as elsewhere:
        ssubscribe(one, "channel.0")
        ssubscribe(two, "channel.0")
        begins(elsewhere.call("SSUBSCRIBE", "channel.0"), "MOVED ")
        equal(cluster.call(port, "SPUBLISH", "channel.0", "data"), 2)
        equal(one.reply()[2], b"data")
        equal(two.reply()[2], b"data")


@test("client can't subscribe to multiple shard channels across different slots in same call")
def _(cluster):
    begins(cluster.call(cluster.primaries()[0], "SSUBSCRIBE", "channel.0", "channel.1"), "CROSSSLOT Keys")


@test("client can subscribe to multiple shard channels across different slots in separate call")
def _(cluster):
    port = cluster.primaries()[0]
    one, two = cluster.keys_of(port, 2, "ch")
    with Client(port) as client:
        equal(ssubscribe(client, one) + ssubscribe(client, two), [1, 2])
        equal(sunsubscribe(client, one) + sunsubscribe(client, two), [1, 0])


@test("Verify Pub/Sub and Pub/Sub shard no overlap")
def _(cluster):
    port = cluster.owner(cluster.slot("channel.0"))
    with Client(port) as of_shard, Client(port) as of_all:
        ssubscribe(of_shard, "channel.0")
        of_all.call("SUBSCRIBE", "channel.0")
        cluster.call(port, "SPUBLISH", "channel.0", "testingpubsubdata")
        cluster.call(port, "PUBLISH", "channel.0", "somemoredata")
        equal(of_shard.reply()[2], b"testingpubsubdata")
        equal(of_all.reply()[2], b"somemoredata")
        check(of_shard.is_silent(0.2) and of_all.is_silent(0.2), "more than one message")


# tests/unit/pubsubshard.tcl


def local(cluster, count):
    port = cluster.primaries()[0]
    return port, cluster.nodes[port], cluster.keys_of(port, count, "chan")


@test("SPUBLISH/SSUBSCRIBE basics")
def _(cluster):
    port, r, (one, two) = local(cluster, 2)
    with Client(port) as client:
        equal(ssubscribe(client, one) + ssubscribe(client, two), [1, 2])
        equal([r.call("SPUBLISH", one, "hello"), r.call("SPUBLISH", two, "world")], [1, 1])
        equal(client.reply(), [b"smessage", one.encode(), b"hello"])
        equal(client.reply(), [b"smessage", two.encode(), b"world"])
        sunsubscribe(client, one)
        equal([r.call("SPUBLISH", one, "hello"), r.call("SPUBLISH", two, "world")], [0, 1])
        equal(client.reply(), [b"smessage", two.encode(), b"world"])
        sunsubscribe(client, two)
        equal([r.call("SPUBLISH", one, "hello"), r.call("SPUBLISH", two, "world")], [0, 0])


@test("SPUBLISH/SSUBSCRIBE with two clients")
def _(cluster):
    port, r, (channel,) = local(cluster, 1)
    with Client(port) as one, Client(port) as two:
        equal(ssubscribe(one, channel) + ssubscribe(two, channel), [1, 1])
        equal(r.call("SPUBLISH", channel, "hello"), 2)
        equal(one.reply(), [b"smessage", channel.encode(), b"hello"])
        equal(two.reply(), [b"smessage", channel.encode(), b"hello"])


@test("SPUBLISH/SSUBSCRIBE after UNSUBSCRIBE without arguments")
def _(cluster):
    port, r, channels = local(cluster, 3)
    with Client(port) as client:
        for at, channel in enumerate(channels):
            equal(ssubscribe(client, channel), [at + 1])
        client.send("SUNSUBSCRIBE")
        gone = [client.reply() for _ in channels]
        equal(sorted(reply[1] for reply in gone), sorted(channel.encode() for channel in channels))
        equal([reply[2] for reply in gone], [2, 1, 0])
        equal([r.call("SPUBLISH", channel, "hello") for channel in channels], [0, 0, 0])


@test("SSUBSCRIBE to one channel more than once")
def _(cluster):
    port, r, (channel,) = local(cluster, 1)
    with Client(port) as client:
        equal(ssubscribe(client, channel, channel, channel), [1, 1, 1])
        equal(r.call("SPUBLISH", channel, "hello"), 1)
        equal(client.reply(), [b"smessage", channel.encode(), b"hello"])


@test("SUNSUBSCRIBE from non-subscribed channels")
def _(cluster):
    port, _, channels = local(cluster, 3)
    with Client(port) as client:
        equal([sunsubscribe(client, channel) for channel in channels], [[0], [0], [0]])


@test("PUBSUB command basics")
def _(cluster):
    port, r, _ = local(cluster, 1)
    equal(r.call("PUBSUB", "SHARDNUMSUB", "abc", "def"), [b"abc", 0, b"def", 0])


@test("SPUBLISH/SSUBSCRIBE with two clients (numbers)")
def _(cluster):
    port, r, (channel,) = local(cluster, 1)
    with Client(port) as one, Client(port) as two:
        ssubscribe(one, channel)
        ssubscribe(two, channel)
        equal(r.call("SPUBLISH", channel, "hello"), 2)
        equal(r.call("PUBSUB", "SHARDNUMSUB", channel), [channel.encode(), 2])
        equal(r.call("PUBSUB", "SHARDCHANNELS"), [channel.encode()])


@test("SPUBLISH/SSUBSCRIBE with PUBLISH/SUBSCRIBE")
def _(cluster):
    port, r, (channel,) = local(cluster, 1)
    name = channel.encode()
    with Client(port) as one, Client(port) as two:
        ssubscribe(one, channel)
        two.call("SUBSCRIBE", channel)
        equal([r.call("SPUBLISH", channel, "hello"), r.call("PUBLISH", channel, "hello")], [1, 1])
        equal(r.call("PUBSUB", "SHARDNUMSUB", channel), [name, 1])
        equal(r.call("PUBSUB", "NUMSUB", channel), [name, 1])
        equal(r.call("PUBSUB", "SHARDCHANNELS"), [name])
        equal(r.call("PUBSUB", "CHANNELS"), [name])


@test("PubSubShard with CLIENT REPLY OFF")
def _(cluster):
    port, _, (channel,) = local(cluster, 1)
    with Client(port) as client:
        client.call("HELLO", 3)
        client.send("CLIENT", "REPLY", "OFF")
        client.send("PING")
        equal(ssubscribe(client, channel), [1])
        client.send("CLIENT", "REPLY", "OFF")
        client.send("PING")
        # The reply to SPUBLISH is not sent, the message is: Redis's test reads both from one client that has asked for none.
        client.send("SPUBLISH", channel, "hello")
        equal(client.reply(), [b"smessage", channel.encode(), b"hello"])
        client.send("CLIENT", "REPLY", "OFF")
        client.send("PING")
        equal(sunsubscribe(client, channel), [0])


@test("publish message to master and receive on replica")
def _(cluster):
    port, r, (channel,) = local(cluster, 1)
    with Client(cluster.replica_of(port)) as client:
        equal(ssubscribe(client, channel), [1])
        for text in (b"hello", b"world"):
            r.call("SPUBLISH", channel, text)
            equal(client.reply(), [b"smessage", channel.encode(), text])


# tests/cluster/tests/28-cluster-shards.tcl


def fields(flat):
    return {flat[at].decode(): flat[at + 1] for at in range(0, len(flat), 2)}


@test("Verify information about the shards")
def _(cluster):
    primaries = cluster.primaries()
    for port in cluster.nodes:
        shards = [fields(shard) for shard in cluster.call(port, "CLUSTER", "SHARDS")]
        equal(len(shards), len(primaries))
        for shard in shards:
            nodes = [fields(node) for node in shard["nodes"]]
            primary = next(node for node in nodes if node["role"] == b"master")
            equal((primary["health"], primary["ip"], primary["endpoint"]), (b"online", b"127.0.0.1", b"127.0.0.1"))
            check(primary["port"] in primaries, primary)
            slots = [str(slot) for slot in shard["slots"]]
            equal(" ".join("-".join(pair) for pair in zip(slots[::2], slots[1::2])), slots_of(cluster, primary["port"]))
            equal([node["role"] for node in nodes if node is not primary], [b"replica"])


# tests/cluster/tests/29-slot-migration-response.tcl


@test("Test cluster responses during migration of slot x")
def _(cluster):
    key = "10"
    slot = cluster.slot(key)
    source = cluster.owner(slot)
    target = cluster.other(source)
    cluster.call(source, "SET", key, key)
    cluster.open(slot, source, target)
    try:
        equal(cluster.call(source, "CLUSTER", "GETKEYSINSLOT", slot, 1), [key.encode()])
        begins(cluster.call(target, "SET", key, "newVal"), "MOVED")
        begins(cluster.call(source, "SET", "abc{%s}" % key, "newVal"), "ASK")
        begins(cluster.call(source, "MSET", "a{%s}" % key, "newVal", key, "newVal2"), "TRYAGAIN")
    finally:
        cluster.stable(slot, source, target)


# tests/unit/cluster/misc.tcl


@test("Key lazy expires during key migration")
def _(cluster):
    slot = cluster.slot("FOO")
    source = cluster.owner(slot)
    target = cluster.other(source)
    equal(cluster.call(source, "DEBUG", "SET-ACTIVE-EXPIRE", 0), "+OK")
    try:
        cluster.call(source, "SET", "FOO", "BAR", "PX", 10)
        cluster.open(slot, source, target)
        time.sleep(0.011)
        begins(cluster.call(source, "GET", "FOO"), "ASK")
        equal(cluster.call(source, "PING"), "+PONG")
    finally:
        cluster.stable(slot, source, target)
        cluster.call(source, "DEBUG", "SET-ACTIVE-EXPIRE", 1)


# tests/unit/cluster/links.tcl


@test("Number of links in a stable state")
def _(cluster):
    for port in cluster.nodes:
        within(10, lambda: len(cluster.call(port, "CLUSTER", "LINKS")) == 2 * (len(cluster.nodes) - 1), "two links to each node")


# tests/unit/cluster-scripting.tcl


CROSS = "ERR Script attempted to access keys that do not hash to the same slot"


@test("Eval scripts with shebangs default to no cross slots")
def _(cluster):
    port = cluster.primaries()[0]
    one, two = cluster.keys_of(port, 2)
    begins(cluster.call(port, "EVAL", "#!lua\nredis.call('set', '%s', 'bar')\nredis.call('set', '%s', 'foo')\nreturn 'OK'" % (one, two), 0), CROSS)


@test("Cross slot commands are allowed by default for eval scripts and with allow-cross-slot-keys flag")
def _(cluster):
    port = cluster.primaries()[0]
    one, two = cluster.keys_of(port, 2)
    body = "redis.call('set', '%s', 'bar'); redis.call('set', '%s', 'foo')" % (one, two)
    equal(cluster.call(port, "EVAL", body, 0), None)
    equal(cluster.call(port, "EVAL", "#!lua flags=allow-cross-slot-keys\n" + body, 0), None)


@test("Cross slot commands are also blocked if they disagree with pre-declared keys")
def _(cluster):
    port = cluster.primaries()[0]
    one, two = cluster.keys_of(port, 2)
    begins(cluster.call(port, "EVAL", "#!lua\nredis.call('set', '%s', 'bar')\nreturn 'OK'" % one, 1, two), CROSS)


# tests/unit/cluster.tcl


def blocked(cluster, port):
    return info(cluster.nodes[port], "clients", "blocked_clients")


@test("Verify command got unblocked after resharding")
def _(cluster):
    source = cluster.primaries()[2]
    key = cluster.keys_of(source, 1)[0]
    slot, target = cluster.slot(key), cluster.other(source)
    cluster.call(source, "DEL", key)
    with Client(source) as client:
        client.send("BRPOP", key, 0)
        within(5, lambda: blocked(cluster, source) == "1", "the client waits")
        cluster.move(slot, source, target)
        begins(client.reply(), "MOVED")
        equal(blocked(cluster, source), "0")
    # Sanity test push cmd after resharding
    cluster.settle()
    begins(cluster.call(source, "LPUSH", key, "v1"), "MOVED")
    with Client(target) as client:
        client.send("BRPOP", key, 0)
        within(5, lambda: blocked(cluster, target) == "1", "the client waits")
        cluster.call(target, "LPUSH", key, "v2")
        equal(client.reply(), [key.encode(), b"v2"])
    cluster.call(target, "DEL", key)
    cluster.move(slot, target, source)


@test("Verify command got unblocked after cluster failure")
def _(cluster):
    # The cluster fails for one primary, which has lost a slot, instead of for all, of which one is stopped.
    port = cluster.primaries()[0]
    key, other = cluster.keys_of(port, 2)
    slot = cluster.slot(other)
    cluster.call(port, "FLUSHALL")
    with Client(port) as client:
        client.send("BRPOP", key, 0)
        within(5, lambda: blocked(cluster, port) == "1", "the client waits")
        try:
            equal(cluster.call(port, "CLUSTER", "DELSLOTS", slot), "+OK")
            begins(client.reply(), "CLUSTERDOWN")
            equal(blocked(cluster, port), "0")
        finally:
            cluster.call(port, "CLUSTER", "ADDSLOTS", slot)


@test("Migrate a slot away and back using plain commands")
def _(cluster):
    equal(cluster.follow("SET", "foo", "bar"), "+OK")
    slot = cluster.slot("foo")
    source = cluster.owner(slot)
    target = cluster.other(source)
    equal(cluster.call(target, "GET", "foo"), "-MOVED %d 127.0.0.1:%d" % (slot, source))
    cluster.open(slot, source, target)
    equal(cluster.call(source, "CLUSTER", "GETKEYSINSLOT", slot, 10), [b"foo"])
    equal(cluster.call(source, "MIGRATE", "127.0.0.1", target, "", 0, 5000, "KEYS", "foo"), "+OK")
    cluster.give(slot, source, target)
    cluster.settle()
    equal(cluster.call(target, "GET", "foo"), b"bar")
    cluster.move(slot, target, source)
    cluster.settle()
    equal(cluster.call(target, "GET", "foo"), "-MOVED %d 127.0.0.1:%d" % (slot, source))


def by_hand(port, *words):
    """What redis-cli --cluster does, which is a client of its own."""
    check(shutil.which("redis-cli"), "there is no redis-cli")
    done = subprocess.run(["redis-cli", "--cluster", *[str(word) for word in words]], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@test("redis-cli --cluster check")
def _(cluster):
    for port in cluster.nodes:
        code, text = by_hand(port, "check", "127.0.0.1:%d" % port)
        check(code == 0 and "All 16384 slots covered" in text, text[-300:])


@test("Perform a Resharding (redis-cli --cluster reshard)")
def _(cluster):
    source, target = cluster.primaries()[2], cluster.primaries()[0]
    first = int(slots_of(cluster, source).split("-")[0].split()[0])
    for at in range(20):
        cluster.follow("SET", "{%s}%d" % (cluster.keys_of(source, 1)[0], at), at)
    for a, b in ((source, target), (target, source)):
        moved = ("reshard", "127.0.0.1:%d" % a, "--cluster-to", cluster.id(b), "--cluster-from", cluster.id(a))
        if a == source:
            code, text = by_hand(a, *moved, "--cluster-slots", 1, "--cluster-yes")
            check(code == 0, text[-300:])
            cluster.settle()
            equal(cluster.owner(first), target)
        else:
            cluster.move(first, target, source)
            cluster.settle()
    code, text = by_hand(source, "check", "127.0.0.1:%d" % source)
    check(code == 0, text[-300:])


# tests/cluster/tests/20-half-migrated-slot.tcl, which is switched off in Redis


def fixes(cluster, port):
    by_hand(port, "fix", "127.0.0.1:%d" % port, "--cluster-yes")
    cluster.settle()
    code, text = by_hand(port, "check", "127.0.0.1:%d" % port)
    check(code == 0, text[-300:])
    equal(cluster.follow("GET", "aga"), b"xyz")


def half_moved(cluster):
    cluster.settle()
    slot = cluster.slot("aga")
    equal(cluster.follow("SET", "aga", "xyz"), "+OK")
    source = cluster.owner(slot)
    return slot, source, cluster.other(source)


@test("Half init migration in 'migrating' is fixable")
def _(cluster):
    slot, source, target = half_moved(cluster)
    equal(cluster.call(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(target)), "+OK")
    fixes(cluster, source)


@test("Half init migration in 'importing' is fixable")
def _(cluster):
    slot, source, target = half_moved(cluster)
    equal(cluster.call(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(source)), "+OK")
    fixes(cluster, source)


@test("Init migration and move key")
def _(cluster):
    slot, source, target = half_moved(cluster)
    cluster.open(slot, source, target)
    equal(cluster.call(source, "MIGRATE", "127.0.0.1", target, "aga", 0, 10000), "+OK")
    equal(cluster.follow("GET", "aga"), b"xyz")
    fixes(cluster, source)


@test("Half-finish importing")
def _(cluster):
    slot, source, target = half_moved(cluster)
    cluster.open(slot, source, target)
    equal(cluster.call(source, "MIGRATE", "127.0.0.1", target, "aga", 0, 10000), "+OK")
    equal(cluster.call(target, "CLUSTER", "SETSLOT", slot, "NODE", cluster.id(target)), "+OK")
    fixes(cluster, source)


def restore(cluster):
    """Slots go back where they were: tests on ranges want one for each primary."""
    wanted = {port: span for port, span in zip(cluster.home, [(0, 5460), (5461, 10922), (10923, 16383)])}
    for row in cluster.seed.call("CLUSTER", "SLOTS"):
        for slot in range(row[0], row[1] + 1):
            home = next((port for port, (first, last) in wanted.items() if first <= slot <= last), None)
            now = row[2][1]
            if home in cluster.primaries() and home != now:
                cluster.move(slot, now, home)
    cluster.settle()


# tests/cluster/tests/10-manual-failover.tcl


@test("Send CLUSTER FAILOVER to a replica, during load")
def _(cluster):
    primary = cluster.primaries()[0]
    replica = cluster.replica_of(primary)
    other = cluster.other(primary)
    epoch = int(info_of(cluster, other, "cluster_current_epoch"))
    content = {}
    for number in range(2000):
        key, value = "list:%d" % random.randrange(500), "%d" % random.randrange(10**9)
        if number % 2:
            equal(type(cluster.follow("RPUSH", key, value)), int)
        else:
            cluster.follow("EVAL", "redis.call('rpush',KEYS[1],ARGV[1])", 1, key, value)
        content.setdefault(key, []).append(value.encode())
        if number == 1000:
            equal(cluster.call(replica, "CLUSTER", "FAILOVER"), "+OK")
    within(20, lambda: int(info_of(cluster, other, "cluster_current_epoch")) > epoch, "a failover")
    within(20, lambda: info(cluster.nodes[replica], "replication", "role") == "master", "the replica is a primary")
    within(20, lambda: info(cluster.nodes[primary], "replication", "role") == "slave", "the primary is a replica")
    cluster.settle()
    for key, values in content.items():
        equal(cluster.follow("LRANGE", key, 0, -1), values)


@test("CLUSTER FAILOVER FORCE while the primary does not answer")
def _(cluster):
    primary = cluster.primaries()[0]
    replica = cluster.replica_of(primary)
    same_offset(cluster.nodes[primary], cluster.nodes[replica])
    asleep = Client(primary)
    asleep.send("DEBUG", "SLEEP", 4)
    time.sleep(0.2)
    equal(cluster.call(replica, "CLUSTER", "FAILOVER", "FORCE"), "+OK")
    within(3, lambda: info(cluster.nodes[replica], "replication", "role") == "master", "the replica is a primary")
    equal(asleep.reply(), "+OK")
    within(20, lambda: info(cluster.nodes[primary], "replication", "role") == "slave", "the primary is a replica")
    asleep.close()


@test("CLUSTER FAILOVER is given up while the primary does not answer")
def _(cluster):
    primary = cluster.primaries()[0]
    replica = cluster.replica_of(primary)
    same_offset(cluster.nodes[primary], cluster.nodes[replica])
    asleep = Client(primary)
    asleep.send("DEBUG", "SLEEP", 4)
    time.sleep(0.2)
    equal(cluster.call(replica, "CLUSTER", "FAILOVER"), "+OK")
    time.sleep(3)
    equal(info(cluster.nodes[replica], "replication", "role"), "slave")
    equal(asleep.reply(), "+OK")
    asleep.close()


def main():
    where, word = sys.argv[1], (sys.argv[2:] or [""])[0]
    port = int(where.rsplit(":")[-1])
    cluster = Cluster(port)
    cluster.home = cluster.primaries()
    passed = failed = 0
    for name, run in TESTS:
        if word not in name:
            continue
        try:
            cluster.settle()
            run(cluster)
            passed += 1
            print("ok      %s" % name, flush=True)
        except (Failed, OSError, EOFError, ValueError, TypeError, KeyError, IndexError, StopIteration, subprocess.TimeoutExpired) as error:
            failed += 1
            print("failed  %s\n        %s %s" % (name, type(error).__name__, error), flush=True)
        for client in cluster.nodes.values():
            client.close()
        cluster = again(cluster)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


def again(before):
    """New connections: a test that failed may have left replies unread. Slots go home."""
    cluster = Cluster(before.seed.port)
    cluster.home = before.home
    try:
        cluster.settle()
        restore(cluster)
    except Failed as error:
        print("        afterwards: %s" % error, flush=True)
    return cluster


if __name__ == "__main__":
    sys.exit(main())
