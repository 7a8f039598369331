"""Random sessions of several clients on two ZooKeepers at once, which are compared packet by packet. See tests/zookeeper-conformance."""

import argparse
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLASS_PATH = "/usr/share/java/slf4j-simple.jar:/usr/share/java/zookeeper.jar"
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
CLIENTS = 3

CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, GET_ACL, SET_ACL, GET_CHILDREN, SYNC = range(1, 10)
PING, GET_CHILDREN2, MULTI, CREATE2, CHECK_WATCHES, REMOVE_WATCHES, CREATE_CONTAINER = 11, 12, 14, 15, 17, 18, 19
CHECK, CREATE_TTL, MULTI_READ, AUTH, SET_WATCHES, GET_EPHEMERALS, CHILDREN_NUMBER = 13, 21, 22, 100, 101, 103, 104
SET_WATCHES2, ADD_WATCH, CLOSE = 105, 106, -11
STAT = "czxid:z mzxid:z ctime:t mtime:t version:i cversion:i aversion:i owner:o data_length:i children:i pzxid:z"


class Ended(Exception):
    """The connection has ended."""


class Writer:
    """Jute, written."""

    def __init__(self):
        self.out = b""

    def int(self, number):
        self.out += struct.pack(">i", number)
        return self

    def long(self, number):
        self.out += struct.pack(">q", number)
        return self

    def bool(self, flag):
        self.out += b"\1" if flag else b"\0"
        return self

    def buffer(self, data):
        if data is None:
            return self.int(-1)
        self.int(len(data))
        self.out += data
        return self

    def string(self, text):
        return self.buffer(text.encode("utf-8"))

    def strings(self, texts):
        self.int(len(texts))
        for text in texts:
            self.string(text)
        return self

    def acl(self, acl):
        self.int(len(acl))
        for rights, scheme, name in acl:
            self.int(rights).string(scheme).string(name)
        return self


class Reader:
    """Jute, read."""

    def __init__(self, data):
        self.data = data

    def take(self, count):
        if count > len(self.data):
            raise ValueError("cut off")
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def int(self):
        return struct.unpack(">i", self.take(4))[0]

    def long(self):
        return struct.unpack(">q", self.take(8))[0]

    def bool(self):
        return self.take(1) != b"\0"

    def buffer(self):
        length = self.int()
        return None if length < 0 else self.take(length)

    def string(self):
        data = self.buffer()
        return None if data is None else data.decode("utf-8")

    def strings(self):
        return [self.string() for _ in range(self.int())]


class Side:
    """One of the two servers, with its sessions."""

    def __init__(self, name, port):
        self.name = name
        self.port = port
        self.clients = [None] * CLIENTS
        # What differs by nature is compared by its place: the sessions in the order in which they began.
        self.sessions = []
        self.base = None

    def stat(self, reader):
        stat = {}
        for field in STAT.split():
            name, kind = field.split(":")
            number = reader.int() if kind == "i" else reader.long()
            if kind == "z":
                number = self.zxid(number)
            elif kind == "t":
                number = "a time" if number > 0 else number
            elif kind == "o" and number in self.sessions:
                number = f"session {self.sessions.index(number)}"
            stat[name] = number
        return stat

    def zxid(self, zxid):
        """Transactions are counted from the first session on."""
        return zxid if zxid <= 0 or self.base is None else zxid - self.base

    def connect(self, client, session=0, password=b"\0" * 16, last=0, timeout=30_000):
        one = Client(self, client)
        self.clients[client] = one
        return one.begin(session, password, last, timeout)


class Client:
    """A client on one connection."""

    def __init__(self, side, number):
        self.side = side
        self.number = number
        self.stream = socket.create_connection(("127.0.0.1", side.port))
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream.settimeout(20)
        self.events = []
        self.session = 0
        self.password = b""
        self.last = 0
        self.xid = 0

    def packet(self):
        (length,) = struct.unpack(">i", self.bytes(4))
        return self.bytes(length)

    def bytes(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.stream.recv(count - len(data))
            except ConnectionError as error:
                raise Ended from error
            if not more:
                raise Ended
            data += more
        return data

    def send(self, data):
        try:
            self.stream.sendall(struct.pack(">i", len(data)) + data)
        except OSError as error:
            raise Ended from error

    def begin(self, session, password, last, timeout):
        self.send(
            Writer().int(0).long(last).int(timeout).long(session).buffer(password).bool(False).out
        )
        try:
            reader = Reader(self.packet())
        except Ended:
            return "no answer"
        version, granted, self.session, self.password = reader.int(), reader.int(), reader.long(), reader.buffer()
        read_only = reader.bool()
        self.last = last
        if self.session and self.session not in self.side.sessions:
            self.side.sessions.append(self.session)
        of = self.side.sessions.index(self.session) if self.session else "none"
        over = "" if self.session else self.password.hex()
        return (version, granted, of, len(self.password), over, read_only, reader.data)

    def ask(self, opcode, record, xid=None):
        """The answer, with what came before it in `events`."""
        if xid is None:
            self.xid += 1
            xid = self.xid
        try:
            self.send(Writer().int(xid).int(opcode).out + record)
            while True:
                reader = Reader(self.packet())
                got, zxid, error = reader.int(), reader.long(), reader.int()
                if got == -1:
                    self.events.append((zxid, error, reader.int(), reader.int(), reader.string(), reader.data))
                    continue
                self.last = max(self.last, zxid)
                return (got == xid or got, self.side.zxid(zxid), error, self.body(opcode, reader, error))
        except Ended:
            return "the connection has ended"

    def body(self, opcode, reader, error):
        side = self.side
        if error != 0 or not reader.data:
            return reader.data
        if opcode in (CREATE, SYNC):
            body = reader.string()
        elif opcode in (CREATE2, CREATE_CONTAINER, CREATE_TTL):
            body = (reader.string(), side.stat(reader))
        elif opcode in (EXISTS, SET_DATA, SET_ACL):
            body = side.stat(reader)
        elif opcode == GET_DATA:
            body = (reader.buffer(), side.stat(reader))
        elif opcode in (GET_CHILDREN, GET_EPHEMERALS):
            body = sorted(reader.strings())
        elif opcode == GET_CHILDREN2:
            body = (sorted(reader.strings()), side.stat(reader))
        elif opcode == GET_ACL:
            acl = [(reader.int(), reader.string(), reader.string()) for _ in range(reader.int())]
            body = (acl, side.stat(reader))
        elif opcode in (CHILDREN_NUMBER, ADD_WATCH):
            body = reader.int()
        elif opcode in (MULTI, MULTI_READ):
            body = self.results(reader)
        else:
            body = "unread"
        return (body, reader.data)

    def results(self, reader):
        results = []
        while True:
            opcode, done, error = reader.int(), reader.bool(), reader.int()
            if done:
                return (results, opcode, error)
            if opcode in (DELETE, CHECK):
                body = None
            elif opcode == -1:
                body = reader.int()
            else:
                body = {
                    CREATE: lambda: reader.string(),
                    CREATE2: lambda: (reader.string(), self.side.stat(reader)),
                    SET_DATA: lambda: self.side.stat(reader),
                    GET_CHILDREN: lambda: sorted(reader.strings()),
                    GET_DATA: lambda: (reader.buffer(), self.side.stat(reader)),
                }[opcode]()
            results.append((opcode, error, body))


OPEN = [(31, "world", "anyone")]


class Chooser:
    """What is asked next: of paths that are there, or may be."""

    def __init__(self, rng):
        self.rng = rng
        self.made = ["/a"]

    def path(self):
        rng = self.rng
        way = rng.random()
        if way < 0.03:
            return rng.choice(
                ["", "/", "a", "/a/", "/a//b", "/a/.", "/a/..", "/..", "/a/./b", "/zookeeper", "/zookeeper/quota",
                 "/zookeeper/x", "/\u00e9\u4e2d", "/a\u0001", "/a\0b", "/\uf000", "/a/b c", "/.a"]
            )
        if way < 0.5 and self.made:
            return rng.choice(self.made[-30:])
        name = lambda: rng.choice("abc")
        return "/" + "/".join(name() for _ in range(rng.choice([1, 1, 2, 2, 3])))

    def data(self):
        size = self.rng.choice([None, 0, 1, 3, 50])
        return None if size is None else bytes(self.rng.randrange(256) for _ in range(size))

    def version(self):
        return self.rng.choice([-1, -1, -1, 0, 1, 2, -2])

    def acl(self):
        way = self.rng.random()
        if way < 0.9:
            return OPEN
        return self.rng.choice(
            [[], OPEN * 2, [(1, "world", "anyone")], [(15, "world", "anyone"), (16, "world", "anyone")],
             [(31, "world", "somebody")], [(31, "nothing", "x")], [(30, "world", "anyone")]]
        )

    def create(self, in_multi=False):
        # Among several operations those with a time have another form, and the real one stumbles over one without it.
        flags = self.rng.choice([0, 0, 0, 1, 1, 2, 3, 3, 3, 4, *([] if in_multi else [5, 6]), 7])
        return Writer().string(self.path()).buffer(self.data()).acl(self.acl()).int(flags).out

    def operation(self, in_multi=False):
        rng = self.rng
        kinds = [CREATE, CREATE, CREATE, CREATE2, CREATE2, DELETE, DELETE, SET_DATA, SET_DATA, CREATE_CONTAINER]
        kinds += [CHECK] if in_multi else [SET_ACL, CREATE_TTL]
        kind = rng.choice(kinds)
        if kind in (CREATE, CREATE2):
            return kind, self.create(in_multi)
        if kind == CREATE_CONTAINER:
            return kind, Writer().string(self.path()).buffer(self.data()).acl(OPEN).int(4).out
        if kind == CREATE_TTL:
            # One of -1 without a mode that has one is no request of any client.
            flags, ttl = rng.choice([(5, 1000), (6, 1000), (0, 5)])
            return kind, Writer().string(self.path()).buffer(self.data()).acl(OPEN).int(flags).long(ttl).out
        if kind in (DELETE, CHECK):
            return kind, Writer().string(self.path()).int(self.version()).out
        if kind == SET_ACL:
            return kind, Writer().string(self.path()).acl(self.acl()).int(self.version()).out
        return kind, Writer().string(self.path()).buffer(self.data()).int(self.version()).out

    def multi(self, header, operations):
        writer = Writer()
        for kind, record in operations:
            writer.int(kind).bool(False).int(-1)
            writer.out += record
        return header, writer.int(-1).bool(True).int(-1).out

    def read(self, watch=True):
        return Writer().string(self.path()).bool(watch and self.rng.random() < 0.4).out

    def request(self):
        rng = self.rng
        way = rng.random()
        if way < 0.42:
            return self.operation()
        if way < 0.52:
            return self.multi(MULTI, [self.operation(True) for _ in range(rng.choice([0, 1, 2, 2, 3, 4]))])
        if way < 0.55:
            reads = [(rng.choice([GET_DATA, GET_CHILDREN]), self.read(False)) for _ in range(rng.randrange(4))]
            return self.multi(MULTI_READ, reads)
        if way < 0.85:
            return rng.choice([EXISTS, EXISTS, GET_DATA, GET_DATA, GET_CHILDREN, GET_CHILDREN2]), self.read()
        kind = rng.choice([GET_ACL, SYNC, GET_EPHEMERALS, CHILDREN_NUMBER, ADD_WATCH, REMOVE_WATCHES, CHECK_WATCHES])
        if kind in (ADD_WATCH, REMOVE_WATCHES, CHECK_WATCHES):
            mode = rng.choice([0, 0, 1] if kind == ADD_WATCH else [1, 2, 3, 3])
            # Over a path without a slash the real one stumbles once there is a recursive watch.
            path = self.path()
            return kind, Writer().string(path if path.startswith("/") else "/" + path).int(mode).out
        path = rng.choice(["/", "/a", ""]) if kind == GET_EPHEMERALS else self.path()
        return kind, Writer().string(path).out

    def note(self, answer):
        """Paths that were made are asked for again."""
        body = answer[3] if isinstance(answer, tuple) and len(answer) == 4 else None
        made = body[0] if isinstance(body, tuple) else None
        made = made[0] if isinstance(made, tuple) and isinstance(made[0], str) else made
        if isinstance(made, str) and made.startswith("/") and "\0" not in made:
            self.made.append(made)


def session(sides, seed, operations, until):
    """One session on both sides. How many answers were compared, and the first difference."""
    rng = random.Random(seed)
    chooser = Chooser(rng)
    log = []
    compared = 0

    def both(what, ask):
        nonlocal compared
        answers = [ask(side) for side in sides]
        compared += 1
        log.append((what, answers[0]))
        if answers[0] != answers[1]:
            return f"{what}\n  {sides[0].name}: {answers[0]}\n  {sides[1].name}: {answers[1]}"
        chooser.note(answers[0])
        return None

    def events():
        """What all clients have heard of by now."""
        for number in range(CLIENTS):
            difference = both(f"client {number} pings", lambda side: side.clients[number].ask(PING, b"", -2)[:1])
            if difference:
                return difference
            heard = []
            for side in sides:
                # The nodes of a session end in an order that is nobody's.
                heard.append(sorted(side.clients[number].events))
                side.clients[number].events = []
            if heard[0] != heard[1]:
                return f"events of client {number}\n  {sides[0].name}: {heard[0]}\n  {sides[1].name}: {heard[1]}"
        return None

    for side in sides:
        side.sessions, side.base = [], None
    for number in range(CLIENTS):
        difference = both(f"client {number} connects", lambda side: side.connect(number))
        if difference:
            return compared, difference, log
        if number == 0:
            for side in sides:
                first = side.clients[0].ask(CREATE, Writer().string("/a").buffer(b"").acl(OPEN).int(0).out)
                side.base = side.clients[0].last
                log.append(("create /a", first))
    for _ in range(operations):
        if time.monotonic() > until:
            break
        number = rng.randrange(CLIENTS)
        way = rng.random()
        if way < 0.012:
            difference = both(f"client {number} closes", lambda side: side.clients[number].ask(CLOSE, b""))
            difference = difference or both(f"client {number} begins anew", lambda side: side.connect(number))
        elif way < 0.03:
            wrong = rng.random() < 0.1
            password = lambda one: b"\7" * 16 if wrong else one.password
            watched = [[chooser.path() for _ in range(rng.randrange(3))] for _ in range(5)]
            more = rng.random() < 0.5
            missed = rng.random() < 0.5 and chooser.operation()

            def again(side):
                old = side.clients[number]
                if missed:
                    # What happens meanwhile is made up for.
                    side.clients[(number + 1) % CLIENTS].ask(*missed)
                answer = side.connect(number, old.session, password(old), old.last)
                if wrong:
                    side.clients[number].stream.close()
                    side.connect(number, old.session, old.password, old.last)
                old.stream.close()
                return answer

            difference = both(f"client {number} comes again", again)

            def set_watches(side):
                writer = Writer().long(side.clients[number].last)
                for paths in watched[: 5 if more else 3]:
                    writer.strings(paths)
                return side.clients[number].ask(SET_WATCHES2 if more else SET_WATCHES, writer.out, -8)

            difference = difference or both(f"client {number} watches again {watched}", set_watches)
        elif way < 0.04:
            scheme, auth = rng.choice([("digest", b"me:secret"), ("ip", b"")])
            record = Writer().int(0).string(scheme).buffer(auth).out
            difference = both(f"client {number} says who it is", lambda side: side.clients[number].ask(AUTH, record, -4))
        else:
            opcode, record = chooser.request()
            what = f"client {number} asks {opcode} {record}"
            difference = both(what, lambda side: side.clients[number].ask(opcode, record))
        difference = difference or events()
        if difference:
            return compared, difference, log
    for side in sides:
        for client in side.clients:
            client.ask(CLOSE, b"")
            client.stream.close()
    return compared, None, log


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} ended with {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as one:
                one.settimeout(2)
                one.sendall(b"srvr")
                answer = b""
                while more := one.recv(4096):
                    answer += more
                if b"Mode:" in answer:
                    return answer.decode().split("version: ")[1].split("-")[0]
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("a server does not answer")


def start_real(java, class_path, folder):
    port = free_port()
    configuration = Path(folder) / "zoo.cfg"
    configuration.write_text(
        f"tickTime=2000\ndataDir={folder}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
        "maxClientCnxns=0\n"
    )
    options = ["-Xmx256m", "-Dzookeeper.forceSync=no", "-Dzookeeper.jmx.log4j.disable=true"]
    options += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-Djava.net.preferIPv4Stack=true"]
    process = subprocess.Popen([java, *options, "-cp", class_path, MAIN, str(configuration)], stdout=subprocess.DEVNULL)
    return process, port


def start_simulated(picklock, members, version):
    port = free_port()
    arguments = ["serve", "--quiet", "--topology", f"zookeeper:{members}", "--port", str(port), "--set", f"version={version}"]
    process = subprocess.Popen([picklock, *arguments], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return process, port


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--java", default="java")
    parser.add_argument("--class-path", default=CLASS_PATH)
    parser.add_argument("--picklock", required=True)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    total, differences = 0, 0
    began = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.sessions):
        folder = tempfile.mkdtemp()
        processes = []
        try:
            real, real_port = start_real(arguments.java, arguments.class_path, folder)
            processes.append(real)
            version = wait_for(real_port, real)
            simulated, port = start_simulated(arguments.picklock, 1, "3.8" if version.startswith("3.8") else "3.9")
            processes.append(simulated)
            wait_for(port, simulated)
            sides = [Side("real", real_port), Side("simulated", port)]
            compared, difference, log = session(sides, seed, arguments.operations, began + arguments.seconds)
            total += compared
            if difference:
                differences += 1
                print(f"session {seed}, after {compared} answers: {difference}")
                for what, answer in log[-6:-1]:
                    print(f"    before: {what}: {answer}")
        finally:
            for process in processes:
                process.kill()
                process.wait()
            shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() - began > arguments.seconds:
            print("the time is over")
            break
    print(f"ZooKeeper {version}: {total} answers compared, {differences} sessions differ")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
