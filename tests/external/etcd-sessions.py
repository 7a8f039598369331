"""Random sessions of several clients on two servers of etcd at once, which are compared reply by reply. See tests/etcd-conformance."""

import argparse
import queue
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# The messages of etcd, as `name: field=number type`, where `*` says that there are several, and `?` that it is one of
# several that exclude each other.
MESSAGES = """
Header: cluster_id=1u member_id=2u revision=3i raft_term=4u
KeyValue: key=1b create_revision=2i mod_revision=3i version=4i value=5b lease=6i
RangeRequest: key=1b range_end=2b limit=3i revision=4i sort_order=5n sort_target=6n serializable=7t keys_only=8t count_only=9t \
min_mod_revision=10i max_mod_revision=11i min_create_revision=12i max_create_revision=13i
RangeResponse: header=1:Header kvs=2*KeyValue more=3t count=4i
PutRequest: key=1b value=2b lease=3i prev_kv=4t ignore_value=5t ignore_lease=6t
PutResponse: header=1:Header prev_kv=2:KeyValue
DeleteRangeRequest: key=1b range_end=2b prev_kv=3t
DeleteRangeResponse: header=1:Header deleted=2i prev_kvs=3*KeyValue
Compare: result=1n target=2n key=3b version=4i? create_revision=5i? mod_revision=6i? value=7b? lease=8i? range_end=64b
RequestOp: range=1:RangeRequest put=2:PutRequest delete=3:DeleteRangeRequest txn=4:TxnRequest
TxnRequest: compare=1*Compare success=2*RequestOp failure=3*RequestOp
ResponseOp: range=1:RangeResponse put=2:PutResponse delete=3:DeleteRangeResponse txn=4:TxnResponse
TxnResponse: header=1:Header succeeded=2t responses=3*ResponseOp
CompactionRequest: revision=1i physical=2t
LeaseGrantRequest: ttl=1i id=2i
LeaseGrantResponse: header=1:Header id=2i ttl=3i error=4s
LeaseRequest: id=1i
LeaseTimeToLiveRequest: id=1i keys=2t
LeaseTimeToLiveResponse: header=1:Header id=2i ttl=3i granted_ttl=4i keys=5*b
LeaseLeasesResponse: header=1:Header leases=2*LeaseRequest
Done: header=1:Header
Empty:
WatchCreate: key=1b range_end=2b start_revision=3i progress_notify=4t filters=5*n prev_kv=6t watch_id=7i fragment=8t
WatchRequest: create=1:WatchCreate cancel=2:LeaseRequest progress=3:Empty
Event: type=1n kv=2:KeyValue prev_kv=3:KeyValue
WatchResponse: header=1:Header watch_id=2i created=3t canceled=4t compact_revision=5i cancel_reason=6s fragment=7t events=11*Event
NamedRequest: name=1b lease=2i value=3b
LockResponse: header=1:Header key=2b
UnlockRequest: key=1b
LeaderKey: name=1b key=2b rev=3i lease=4i
CampaignResponse: header=1:Header leader=2:LeaderKey
LeaderRequest: leader=1:LeaderKey value=2b
LeaderResponse: header=1:Header kv=2:KeyValue
StatusResponse: header=1:Header version=2s
"""

FIELD = descriptor_pb2.FieldDescriptorProto
KINDS = {
    "i": FIELD.TYPE_INT64,
    "u": FIELD.TYPE_UINT64,
    "b": FIELD.TYPE_BYTES,
    "s": FIELD.TYPE_STRING,
    "t": FIELD.TYPE_BOOL,
    "n": FIELD.TYPE_INT32,
}


def messages():
    """The classes of all messages."""
    proto = descriptor_pb2.FileDescriptorProto(name="etcd.proto", package="etcd", syntax="proto3")
    lines = [line for line in MESSAGES.replace("\\\n", "").splitlines() if line]
    for line in lines:
        name, _, fields = line.partition(":")
        message = proto.message_type.add(name=name)
        for text in fields.split():
            field_name, _, kind = text.partition("=")
            number = "".join(char for char in kind if char.isdigit())
            rest = kind[len(number) :]
            field = message.field.add(name=field_name, number=int(number))
            field.label = FIELD.LABEL_REPEATED if rest.startswith("*") else FIELD.LABEL_OPTIONAL
            rest = rest.lstrip("*:")
            if rest.endswith("?"):
                rest = rest[:-1]
                if not message.oneof_decl:
                    message.oneof_decl.add(name="compared")
                field.oneof_index = 0
            if rest in KINDS:
                field.type = KINDS[rest]
            else:
                field.type = FIELD.TYPE_MESSAGE
                field.type_name = ".etcd." + rest
    pool = descriptor_pool.DescriptorPool()
    file = pool.Add(proto) or pool.FindFileByName("etcd.proto")
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: make(file.message_types_by_name[name]) for name in file.message_types_by_name}


M = messages()

# The calls of one request and one answer.
CALLS = {
    "Range": ("etcdserverpb.KV", "RangeRequest", "RangeResponse"),
    "Put": ("etcdserverpb.KV", "PutRequest", "PutResponse"),
    "DeleteRange": ("etcdserverpb.KV", "DeleteRangeRequest", "DeleteRangeResponse"),
    "Txn": ("etcdserverpb.KV", "TxnRequest", "TxnResponse"),
    "Compact": ("etcdserverpb.KV", "CompactionRequest", "Done"),
    "LeaseGrant": ("etcdserverpb.Lease", "LeaseGrantRequest", "LeaseGrantResponse"),
    "LeaseRevoke": ("etcdserverpb.Lease", "LeaseRequest", "Done"),
    "LeaseTimeToLive": ("etcdserverpb.Lease", "LeaseTimeToLiveRequest", "LeaseTimeToLiveResponse"),
    "LeaseLeases": ("etcdserverpb.Lease", "Empty", "LeaseLeasesResponse"),
    "Lock": ("v3lockpb.Lock", "NamedRequest", "LockResponse"),
    "Unlock": ("v3lockpb.Lock", "UnlockRequest", "Done"),
    "Campaign": ("v3electionpb.Election", "NamedRequest", "CampaignResponse"),
    "Proclaim": ("v3electionpb.Election", "LeaderRequest", "Done"),
    "Leader": ("v3electionpb.Election", "NamedRequest", "LeaderResponse"),
    "Resign": ("v3electionpb.Election", "LeaderRequest", "Done"),
    "Status": ("etcdserverpb.Maintenance", "Empty", "StatusResponse"),
}
# Of an operation that is asked for an answer, how long it may take: more is a difference.
PATIENCE = 10.0
# A session ends after so many differences: most of them follow from the first.
MOST_DIFFERENCES = 3
# What a transaction is refused for when it is carried out. Up to 3.4 all puts are looked at before all ranges.
REFUSALS = {
    "etcdserver: key not found",
    "etcdserver: requested lease not found",
    "etcdserver: mvcc: required revision has been compacted",
    "etcdserver: mvcc: required revision is a future revision",
}
# How far remaining seconds of a lease may lie apart.
APART = 2


def plain(message):
    """A message as plain data, without what names the cluster and counts its elections."""
    said = {}
    for field, value in message.ListFields():
        name = field.name
        if name in ("cluster_id", "member_id", "raft_term"):
            continue
        if field.type == FIELD.TYPE_MESSAGE:
            if field.label == FIELD.LABEL_REPEATED:
                value = [plain(one) for one in value]
            else:
                value = plain(value)
        elif field.label == FIELD.LABEL_REPEATED:
            value = list(value)
        said[name] = value
    # What has its default is the same whether it is written or not.
    return {name: value for name, value in said.items() if value not in (0, b"", "", False, [])}


class Stream:
    """A call of several messages, whose answers are collected."""

    def __init__(self, channel, method, request, answer):
        self.requests = queue.Queue()
        self.answers = []
        self.end = None
        call = channel.stream_stream(method, M[request].SerializeToString, M[answer].FromString)
        self.call = call(iter(self.requests.get, None))
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        try:
            for answer in self.call:
                self.answers.append(plain(answer))
            self.end = (0, "")
        except grpc.RpcError as error:
            self.end = (error.code().value[0], error.details())

    def close(self):
        self.call.cancel()
        self.requests.put(None)


class Server:
    """One of the two servers, with the connections of all clients."""

    def __init__(self, port, clients):
        self.channels = []
        for number in range(clients):
            options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
            channel = grpc.insecure_channel(f"127.0.0.1:{port}", options)
            grpc.channel_ready_future(channel).result(timeout=3 * PATIENCE)
            self.channels.append(channel)
        self.calls = {}

    def start(self, client, name, request):
        """Begins a call."""
        made = self.calls.get((client, name))
        if made is None:
            service, asked, answered = CALLS[name]
            made = self.channels[client].unary_unary(
                f"/{service}/{name}", M[asked].SerializeToString, M[answered].FromString
            )
            self.calls[client, name] = made
        return made.future(request)

    def close(self):
        for channel in self.channels:
            channel.close()


def outcome(call, patience=PATIENCE):
    """What a call has come to: a code, and an answer or the words of the error."""
    try:
        return (0, plain(call.result(timeout=patience)))
    except grpc.RpcError as error:
        return (error.code().value[0], error.details())
    except grpc.FutureTimeoutError:
        return (-1, "no answer")


class Session:
    """A session of random operations on both servers."""

    def __init__(self, seed, servers, report, is_old):
        # Whether the real one is of 3.4.
        self.is_old = is_old
        self.random = random.Random(seed)
        self.seed = seed
        self.servers = servers
        self.report = report
        self.compared = 0
        self.differences = 0
        self.kinds = {}
        self.revision = 1
        self.compacted = 0
        self.leases = []
        self.next_lease = 1000
        self.waiting = []
        self.held = []
        self.led = []
        # Leases that were used with the services for locks and elections: these renew a lease at times, by a race in the real server.
        self.named = set()
        self.streams = []
        self.keep_alives = {}
        self.log = []

    # Choices.

    def pick(self, *choices):
        return self.random.choice(choices)

    def rarely(self, one_in):
        return self.random.randrange(one_in) == 0

    def key(self):
        if self.rarely(60):
            return b""
        return self.pick(b"a", b"a/1", b"a/2", b"a/3", b"b", b"b/1", b"b/2", b"b\xff", b"c", b"\x00", b"\xff", b"d")

    def end(self, key):
        roll = self.random.randrange(8)
        if roll < 3:
            return b""
        if roll == 3:
            return b"\x00"
        if roll == 4 and key and key[-1] < 255:
            return key[:-1] + bytes([key[-1] + 1])
        return self.key()

    def some_revision(self):
        """A revision that is there, mostly; sometimes one that is forgotten, to come, or none."""
        roll = self.random.randrange(20)
        if roll == 0:
            return self.pick(-1, -2, self.revision + 1, self.revision + 5, 1)
        if roll == 1:
            return max(0, self.compacted - 1)
        if roll == 2:
            return self.compacted
        return self.random.randint(max(1, self.compacted), self.revision)

    def lease(self):
        """A lease that is there, mostly."""
        if self.leases and not self.rarely(25):
            return self.random.choice(self.leases)
        return self.pick(7, 99, self.next_lease - 1)

    def range_request(self):
        key = self.key()
        request = M["RangeRequest"](key=key, range_end=self.end(key))
        if self.rarely(3):
            request.limit = self.random.randint(-1, 5)
        if self.rarely(3):
            request.revision = self.some_revision()
        if self.rarely(2):
            request.sort_order = self.random.randrange(3)
            request.sort_target = self.random.randrange(5)
        if self.rarely(60) and not self.is_old:
            request.sort_order = self.pick(3, -1, 0)
            request.sort_target = self.pick(5, -1, 0)
        request.serializable = self.rarely(3)
        request.keys_only = self.rarely(4)
        request.count_only = self.rarely(8)
        for name in ("min_mod_revision", "max_mod_revision", "min_create_revision", "max_create_revision"):
            if self.rarely(8):
                setattr(request, name, self.some_revision())
        return request

    def put_request(self, ignores=True):
        request = M["PutRequest"](key=self.key(), value=self.pick(b"", b"1", b"2", b"3", b"more"))
        if self.leases and self.rarely(4):
            request.lease = self.lease()
        request.prev_kv = self.rarely(3)
        if ignores and self.rarely(6):
            request.ignore_value = True
            if not self.rarely(5):
                request.value = b""
        if ignores and self.rarely(6):
            request.ignore_lease = True
            if not self.rarely(5):
                request.lease = 0
        return request

    def delete_request(self):
        key = self.key()
        return M["DeleteRangeRequest"](key=key, range_end=self.end(key), prev_kv=self.rarely(2))

    def compare_request(self):
        key = self.key()
        compare = M["Compare"](key=key, result=self.random.randrange(4))
        if self.rarely(3):
            compare.range_end = self.end(key)
        target = self.random.randrange(5)
        compare.target = target
        value = self.pick(0, 1, 2, 3, self.some_revision())
        if self.rarely(20):
            return compare
        if target == 0:
            compare.version = value
        elif target == 1:
            compare.create_revision = value
        elif target == 2:
            compare.mod_revision = value
        elif target == 3:
            compare.value = self.pick(b"", b"1", b"2", b"3")
        else:
            compare.lease = self.pick(0, self.lease())
        return compare

    def txn_request(self, depth=0, ignores=None):
        # A real server ends itself when a transaction deletes a key and then puts it with the value, or the lease, that it had.
        ignores = self.rarely(3) if ignores is None else ignores
        request = M["TxnRequest"]()
        for _ in range(self.pick(0, 1, 1, 2)):
            request.compare.append(self.compare_request())
        for operations in (request.success, request.failure):
            for _ in range(self.pick(0, 1, 1, 2, 3)):
                operation = operations.add()
                roll = self.random.randrange(40)
                if roll < 14:
                    operation.range.CopyFrom(self.range_request())
                elif roll < 26:
                    operation.put.CopyFrom(self.put_request(ignores))
                elif roll < 32 and not ignores:
                    operation.delete.CopyFrom(self.delete_request())
                elif 32 <= roll < 39 and depth < 3:
                    operation.txn.CopyFrom(self.txn_request(depth + 1, ignores))
        return request

    # Comparing.

    def differs(self, what, request, real, simulated):
        self.differences += 1
        self.kinds["differs"] = self.kinds.get("differs", 0) + 1
        text = " ".join(str(request).split())
        self.report(f"seed {self.seed} operation {self.compared}: {what} {text}\n  real      {real}\n  simulated {simulated}")

    def count(self, name):
        self.compared += 1
        self.kinds[name] = self.kinds.get(name, 0) + 1

    def same(self, name, request, real, simulated):
        self.count(name)
        if real != simulated and not self.is_near(name, request, real, simulated):
            self.differs(name, request, real, simulated)
        code, answer = real
        if code == 0 and "header" in answer:
            self.revision = max(self.revision, answer["header"].get("revision", 0))

    def is_near(self, name, request, real, simulated):
        """True if only the seconds that are left of a lease differ, by little, or what is known to be of another version."""
        if self.is_old and name == "Txn" and 0 not in (real[0], simulated[0]) and {real[1], simulated[1]} <= REFUSALS:
            self.kinds["of another version"] = self.kinds.get("of another version", 0) + 1
            return True
        sorts = name == "Txn" or (name == "Range" and request.sort_target != 0)
        if sorts and real[0] == simulated[0] == 0 and without_many(real[1]) == without_many(simulated[1]):
            self.kinds["of more than twelve equal keys"] = self.kinds.get("of more than twelve equal keys", 0) + 1
            return True
        if name != "LeaseTimeToLive" or real[0] != 0 or simulated[0] != 0:
            return False
        for _, answer in (real, simulated):
            # Their order is that of a map.
            answer.get("keys", []).sort()
        near = request.id in self.named or abs(real[1].get("ttl", 0) - simulated[1].get("ttl", 0)) <= APART
        return near and {**real[1], "ttl": 0} == {**simulated[1], "ttl": 0}

    def call(self, name, request):
        """Makes a call on both; what it comes to on the real one."""
        client = self.random.randrange(len(self.servers[0].channels))
        calls = [server.start(client, name, request) for server in self.servers]
        real, simulated = (outcome(call) for call in calls)
        self.same(name, request, real, simulated)
        return real

    def look(self, server, name):
        """The keys below a name, in the order of their making, as one server has them now."""
        prefix = name + b"/"
        look = M["RangeRequest"](key=prefix, range_end=name + b"0", sort_target=2, sort_order=1)
        found = outcome(server.start(0, "Range", look))
        return found[1].get("kvs", []) if found[0] == 0 else []

    def arrive(self, waiting):
        """Waits until one who wants a lock or a leadership has made its key on both servers, or has an answer."""
        name, request, calls, state = waiting
        own = request.name + b"/%x" % request.lease
        until = time.monotonic() + PATIENCE
        for server, call in zip(self.servers, calls):
            while time.monotonic() < until and not call.done():
                made = [kv["create_revision"] for kv in self.look(server, request.name) if kv["key"] == own]
                if made:
                    state["since"] = made[0]
                    break

    def settle(self):
        """Waits for those who wait for a lock or a leadership and whose turn has come."""
        for waiting in list(self.waiting):
            name, request, calls, state = waiting
            if "since" not in state:
                self.arrive(waiting)
            before = self.look(self.servers[0], request.name)
            is_next = all(kv["create_revision"] >= state.get("since", 0) for kv in before)
            if not is_next and not any(call.done() for call in calls):
                continue
            self.waiting.remove(waiting)
            real, simulated = (outcome(call) for call in calls)
            if self.is_old and name == "Lock" and simulated == (2, "mutex: session is expired"):
                # Up to 3.4 nobody looks whether the own key is still there.
                self.kinds["of another version"] = self.kinds.get("of another version", 0) + 1
                simulated = real
            self.same(name, request, real, simulated)
            if real[0] == 0:
                if name == "Lock":
                    self.held.append(real[1]["key"])
                else:
                    self.led.append(real[1]["leader"])

    # Operations.

    def do_range(self):
        self.call("Range", self.range_request())

    def do_put(self):
        self.call("Put", self.put_request())

    def do_delete(self):
        self.call("DeleteRange", self.delete_request())

    def do_txn(self):
        self.call("Txn", self.txn_request())

    def do_compact(self):
        revision = self.some_revision()
        code, _ = self.call("Compact", M["CompactionRequest"](revision=revision, physical=self.rarely(2)))
        if code == 0:
            self.compacted = revision

    def do_grant(self):
        lease = self.next_lease
        self.next_lease += self.random.randint(1, 20)
        if self.rarely(8):
            lease = self.lease()
        if self.rarely(30):
            lease = -self.random.randint(1, 5)
        ttl = self.random.randint(1000, 9000)
        if self.rarely(15):
            ttl = self.pick(9_000_000_000, 9_000_000_001, 1 << 62)
        code, _ = self.call("LeaseGrant", M["LeaseGrantRequest"](id=lease, ttl=ttl))
        if code == 0:
            self.leases.append(lease)

    def do_revoke(self):
        lease = self.lease()
        code, _ = self.call("LeaseRevoke", M["LeaseRequest"](id=lease))
        if code == 0:
            self.leases.remove(lease)

    def do_time_to_live(self):
        self.call("LeaseTimeToLive", M["LeaseTimeToLiveRequest"](id=self.lease(), keys=self.rarely(2)))

    def do_leases(self):
        client = self.random.randrange(len(self.servers[0].channels))
        found = [outcome(server.start(client, "LeaseLeases", M["Empty"]())) for server in self.servers]
        for code, answer in found:
            # Their order is that of their ends.
            if code == 0:
                answer.get("leases", []).sort(key=lambda lease: lease["id"])
        self.same("LeaseLeases", "", *found)

    def do_keep_alive(self):
        client = self.random.randrange(len(self.servers[0].channels))
        streams = self.keep_alives.get(client)
        if streams is None:
            method = "/etcdserverpb.Lease/LeaseKeepAlive"
            streams = [
                Stream(server.channels[client], method, "LeaseRequest", "LeaseGrantResponse") for server in self.servers
            ]
            self.keep_alives[client] = streams
        before = [len(stream.answers) for stream in streams]
        request = M["LeaseRequest"](id=self.lease())
        for stream in streams:
            stream.requests.put(request)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and any(
            len(stream.answers) == length and stream.end is None for stream, length in zip(streams, before)
        ):
            time.sleep(0.0005)
        answers = [
            (0, stream.answers[length]) if len(stream.answers) > length else (-1, str(stream.end))
            for stream, length in zip(streams, before)
        ]
        self.same("LeaseKeepAlive", request, *answers)

    def do_watch(self):
        if len(self.streams) < 3 and (not self.streams or self.rarely(3)):
            client = self.random.randrange(len(self.servers[0].channels))
            method = "/etcdserverpb.Watch/Watch"
            pair = [
                Stream(server.channels[client], method, "WatchRequest", "WatchResponse") for server in self.servers
            ]
            self.streams.append((pair, []))
        pair, ids = self.random.choice(self.streams)
        key = self.key()
        create = M["WatchCreate"](key=key, range_end=self.end(key), prev_kv=self.rarely(2))
        create.progress_notify = self.rarely(4)
        for kind in (0, 1):
            if self.rarely(5):
                create.filters.append(kind)
        if self.rarely(4):
            create.watch_id = self.random.randint(-1, 12)
        looks_back = self.rarely(3)
        if looks_back:
            create.start_revision = self.some_revision()
        if self.rarely(4):
            create.start_revision = self.revision + self.random.randint(1, 4)
        before = [len(stream.answers) for stream in pair]
        for stream in pair:
            stream.requests.put(M["WatchRequest"](create=create))
        self.expect(pair, before)
        if looks_back:
            # What has happened comes within a tenth of a second.
            time.sleep(0.3)
        answer = pair[0].answers[before[0]] if len(pair[0].answers) > before[0] else {}
        if answer.get("created") and not answer.get("canceled"):
            ids.append(answer.get("watch_id", 0))
        self.count("WatchCreate")
        self.compare_streams("WatchCreate", create)

    def do_cancel(self):
        watched = [one for one in self.streams if one[1]]
        if not watched:
            return
        pair, ids = self.random.choice(watched)
        number = ids.pop(self.random.randrange(len(ids)))
        if self.rarely(10):
            number = 77
        before = [len(stream.answers) for stream in pair]
        for stream in pair:
            stream.requests.put(M["WatchRequest"](cancel=M["LeaseRequest"](id=number)))
        if number != 77:
            self.expect(pair, before, 2.0)
        self.count("WatchCancel")
        self.compare_streams("WatchCancel", number)

    def do_progress(self):
        # Up to 3.4 there is always an answer, whether the watches have been told everything or not.
        if not self.streams or self.is_old:
            return
        pair, ids = self.random.choice(self.streams)
        self.compare_streams("WatchProgress", "before")
        before = [len(stream.answers) for stream in pair]
        for stream in pair:
            stream.requests.put(M["WatchRequest"](progress=M["Empty"]()))
        # There may be none: of watches that are to begin later.
        self.expect(pair, before, 0.3)
        self.count("WatchProgress")
        self.compare_streams("WatchProgress", "")

    def expect(self, pair, before, patience=PATIENCE):
        """Waits until both streams have said something new."""
        until = time.monotonic() + patience
        while time.monotonic() < until and any(len(stream.answers) == length for stream, length in zip(pair, before)):
            time.sleep(0.0005)

    def compare_streams(self, what, request):
        """Compares what all watches have said, each by itself: those of one stream are served in any order."""
        until = time.monotonic() + 3.0
        while True:
            unequal = []
            for pair, ids in self.streams:
                said = [by_watch(stream) for stream in pair]
                if said[0] != said[1]:
                    unequal.append((pair, said))
            if not unequal or time.monotonic() > until:
                break
            time.sleep(0.002)
        for pair, (real, simulated) in unequal:
            for watch in sorted(set(real) | set(simulated), key=str):
                one, other = real.get(watch, []), simulated.get(watch, [])
                same = 0
                while same < min(len(one), len(other)) and one[same] == other[same]:
                    same += 1
                if one != other:
                    self.differs(f"watch {watch} after {what}", request, one[same : same + 3], other[same : same + 3])
        for pair, ids in unequal:
            for stream in pair:
                stream.close()
        gone = [pair for pair, _ in unequal]
        self.streams = [one for one in self.streams if one[0] not in gone]

    def do_lock(self):
        self.queue_up("Lock", b"lock")

    def do_campaign(self):
        self.queue_up("Campaign", b"election")

    def queue_up(self, name, prefix):
        if len(self.waiting) >= 3:
            return
        # The key that is there must not be taken for one that is made now.
        lease = self.lease()
        if any(request.lease == lease for _, request, *_ in self.waiting):
            return
        request = M["NamedRequest"](name=prefix, lease=lease)
        if name == "Campaign":
            request.value = self.pick(b"", b"v", b"w")
        client = self.random.randrange(len(self.servers[0].channels))
        self.named.add(lease)
        calls = [server.start(client, name, request) for server in self.servers]
        self.waiting.append((name, request, calls, {}))

    def do_unlock(self):
        key = b"lock/77"
        if self.held and not self.rarely(10):
            key = self.held.pop(self.random.randrange(len(self.held)))
        if self.rarely(30):
            key = b""
        self.call("Unlock", M["UnlockRequest"](key=key))

    def leader_key(self):
        if self.led and not self.rarely(20):
            return M["LeaderKey"](**self.random.choice(self.led))
        # Without a lease it would be given one, of a number that differs.
        return M["LeaderKey"](name=b"election", key=b"election/7", rev=2, lease=7)

    def do_proclaim(self):
        request = M["LeaderRequest"](leader=self.leader_key(), value=self.pick(b"", b"x", b"y"))
        if self.rarely(30):
            request.ClearField("leader")
        self.call("Proclaim", request)

    def do_leader(self):
        self.call("Leader", M["NamedRequest"](name=self.pick(b"election", b"election", b"none", b"")))

    def do_resign(self):
        request = M["LeaderRequest"](leader=self.leader_key())
        if self.rarely(30):
            request.ClearField("leader")
        self.call("Resign", request)
        leader = plain(request).get("leader")
        if leader in self.led:
            self.led.remove(leader)

    def run(self, operations):
        weights = {
            "range": 20,
            "put": 18,
            "delete": 6,
            "txn": 20,
            "compact": 0.7,
            "grant": 3,
            "revoke": 1.5,
            "time_to_live": 3,
            "leases": 1,
            "keep_alive": 2,
            "watch": 1,
            "cancel": 0.7,
            "progress": 0.5,
            "lock": 2,
            "unlock": 2,
            "campaign": 2,
            "proclaim": 2,
            "leader": 1,
            "resign": 1,
        }
        acts = [getattr(self, "do_" + name) for name in weights]
        while self.compared < operations and self.differences < MOST_DIFFERENCES:
            self.random.choices(acts, list(weights.values()))[0]()
            self.settle()
            if self.rarely(20):
                self.compare_streams("a while", "")
        time.sleep(0.15)
        self.compare_streams("all", "")
        self.clean()

    def clean(self):
        """Leaves nothing of the session but its revisions."""
        for lease in list(self.leases):
            self.call("LeaseRevoke", M["LeaseRequest"](id=lease))
            self.leases.remove(lease)
            self.settle()
        self.call("DeleteRange", M["DeleteRangeRequest"](key=b"\x00", range_end=b"\x00"))
        self.settle()
        for _, _, calls, _ in self.waiting:
            for call in calls:
                call.cancel()
        for pair, _ in self.streams:
            for stream in pair:
                stream.close()
        for pair in self.keep_alives.values():
            for stream in pair:
                stream.close()


def without_many(answer):
    """An answer with only the number of the keys of a range, where there are more than twelve: etcd leaves open how equal ones are sorted."""
    if isinstance(answer, list):
        return [without_many(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    if answer.get("count", 0) > 12 and "kvs" in answer:
        return {**answer, "kvs": len(answer["kvs"])}
    return {name: without_many(value) for name, value in answer.items()}


def by_watch(stream):
    """What a stream of watches has said, watch by watch."""
    said = {}
    for answer in list(stream.answers):
        said.setdefault(answer.get("watch_id", 0), []).append(answer)
    if stream.end is not None:
        said["end"] = [stream.end]
    return said


class Process:
    """A server that is started, and ended."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_ports(count):
    """Ports of the loopback interface that nobody uses."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def real_server(program, port, peers, directory):
    """The command of a real server."""
    own, other = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peers}"
    command = [program, "--data-dir", directory, "--log-level", "error", "--listen-client-urls", own]
    command += ["--advertise-client-urls", own, "--listen-peer-urls", other]
    return command + ["--initial-advertise-peer-urls", other, "--initial-cluster", f"default={other}"]


def simulated_server(picklock, port, version):
    """The command of a simulated server."""
    command = [picklock, "serve", "--quiet", "--topology", "etcd:1", "--port", str(port)]
    return command + ["--set", f"version={version}"]


def version_of(program):
    """The version that a simulated server is to behave like, of those that there are."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    number = said.split("etcd Version: ")[1].split()[0]
    major, minor = number.split(".")[:2]
    return {"3.4": "3.4", "3.5": "3.6", "3.6": "3.6"}.get(f"{major}.{minor}", "3.7")


def session(arguments, seed):
    """Plays one session, each server from its start."""
    real, peers, simulated = free_ports(3)
    with tempfile.TemporaryDirectory() as directory:
        processes = [
            Process(real_server(arguments.etcd, real, peers, directory)),
            Process(simulated_server(arguments.picklock, simulated, arguments.behaves)),
        ]
        try:
            servers = [Server(port, 3) for port in (real, simulated)]
            until = time.monotonic() + PATIENCE
            for server in servers:
                while outcome(server.start(0, "Range", M["RangeRequest"](key=b"x")))[0] != 0 and time.monotonic() < until:
                    time.sleep(0.05)
            version = outcome(servers[0].start(0, "Status", M["Empty"]()))[1]["version"]
            played = Session(seed, servers, lambda text: print(text, flush=True), version.startswith("3.4"))
            played.run(arguments.operations)
            for server in servers:
                server.close()
            return played, version
        finally:
            for process in processes:
                process.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etcd", default="etcd")
    parser.add_argument("--picklock", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600.0)
    arguments = parser.parse_args()
    arguments.behaves = version_of(arguments.etcd)
    compared, differences, kinds, played = 0, 0, {}, 0
    began = time.monotonic()
    version = "none"
    for seed in range(arguments.seed, arguments.seed + arguments.sessions):
        if time.monotonic() - began > arguments.seconds:
            break
        one, version = session(arguments, seed)
        played += 1
        compared += one.compared
        differences += one.differences
        for name, count in one.kinds.items():
            kinds[name] = kinds.get(name, 0) + count
        print(f"seed {seed}: {compared} operations, {differences} differences", file=sys.stderr, flush=True)
    print(", ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    taken = time.monotonic() - began
    print(f"etcd {version}: {played} sessions, {compared} operations compared, {differences} differences, {taken:.0f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
