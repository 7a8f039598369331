"""What a Redis did to the records of locks, from what MONITOR prints, as lines for `picklock judge`.

    redis-cli monitor | python3 monitor.py redis-1 lock: > store.jsonl

The first word is the name of the host in the history, the second the beginning of the records' names: what comes behind it is the
key by which the clients' recorders know the lock. A grant is known by the value that its request stores, or by the field in a hash; the
clients note the same in the line of their acquire, as `grant`.

MONITOR shows requests and no replies. What came of them follows from the state of the key: begin while no lock is held. The
times are those of the store's clock, and a request within a millisecond of the end of a lease may be taken for the wrong side of it.
"""

import heapq
import json
import re
import sys

LINE = re.compile(r'^(\d+)\.(\d{6}) \[(\d+) (\S+)\] (.*)$')
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(r'\\(x[0-9a-fA-F]{2}|.)')
PLAIN = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
MS = 1_000_000


def words(text):
    def plain(escape):
        given = escape.group(1)
        return chr(int(given[1:], 16)) if len(given) == 3 else PLAIN.get(given, given)

    return [ESCAPE.sub(plain, word) for word in WORD.findall(text)]


class Store:
    def __init__(self, host, prefix, write):
        self.host, self.prefix, self.write = host, prefix, write
        self.records = {}  # By name: [grant, end of the lease or None].
        self.ends = []  # Ends of leases to come, with the record that each is of.
        self.grants = {}  # By name: all that were ever made.
        self.last = {}  # By connection and name: the grant that it asked for last.
        self.request = None  # The connection and the words of the request that scripts run for.

    def note(self, at, f, name, grant):
        line = {"time_ns": at, "host": self.host, "type": "info", "f": f, "key": name[len(self.prefix):]}
        self.write(json.dumps({**line, "grant": grant} if grant else line))

    def expire(self, now):
        while self.ends and self.ends[0][0] <= now:
            end, name = heapq.heappop(self.ends)
            if self.records.get(name, [None, None])[1] == end:
                del self.records[name]
                self.note(end, "expired", name, None)

    def lease(self, name, at, ms):
        end = None if ms is None else at + ms * MS
        self.records[name][1] = end
        if end is not None:
            heapq.heappush(self.ends, (end, name))

    def create(self, name, at, grant, ms):
        self.records[name] = [grant, None]
        self.grants.setdefault(name, set()).add(grant)
        self.lease(name, at, ms)
        self.note(at, "created", name, grant)

    def served(self, name):
        """In whose service a request is: the grant that it names, else the one that its connection asked for last."""
        connection, given = self.request
        named = [word for word in given if word in self.grants.get(name, ())]
        return named[-1] if named else self.last.get((connection, name))

    def asks(self, name, grant):
        self.last[self.request[0], name] = grant

    def delete(self, name, at):
        if self.records.pop(name, None):
            self.note(at, "deleted", name, self.served(name))

    def extend(self, name, at, ms):
        if name in self.records:
            self.lease(name, at, ms)
            self.note(at, "extended", name, self.served(name))

    def set(self, name, at, value, options):
        upper = [word.upper() for word in options]
        self.asks(name, value)
        if ("NX" in upper and name in self.records) or ("XX" in upper and name not in self.records):
            return
        ms = None
        for unit, factor in (("PX", 1), ("EX", 1000)):
            if unit in upper:
                ms = int(options[upper.index(unit) + 1]) * factor
        self.create(name, at, value, ms)

    def execute(self, at, command, args):
        name = args[0] if args else ""
        if command in ("DEL", "UNLINK"):
            for name in args:
                if name.startswith(self.prefix):
                    self.delete(name, at)
        elif not name.startswith(self.prefix):
            return
        elif command == "SET":
            self.set(name, at, args[1], args[2:])
        elif command == "SETNX":
            self.set(name, at, args[1], ["NX"])
        elif command in ("SETEX", "PSETEX"):
            self.set(name, at, args[2], ["PX" if command == "PSETEX" else "EX", args[1]])
        elif command in ("EXPIRE", "PEXPIRE"):
            self.extend(name, at, int(args[1]) * (1 if command == "PEXPIRE" else 1000))
        elif command == "PERSIST":
            self.extend(name, at, None)
        elif command in ("HSET", "HSETNX", "HINCRBY"):
            self.asks(name, args[1])
            if name not in self.records:
                self.create(name, at, args[1], None)
        elif command == "HDEL":
            # A lock in a hash has one field, its holder.
            if name in self.records and self.records[name][0] in args[1:]:
                self.delete(name, at)

    def take(self, text):
        found = LINE.match(text)
        if not found:
            return
        seconds, micros, _, place, rest = found.groups()
        at = (int(seconds) * 1_000_000 + int(micros)) * 1_000
        self.expire(at)
        command, *args = words(rest)
        # What a script does stands behind its request, and comes from `lua`.
        if place != "lua":
            self.request = (place, args)
        if self.request:
            self.execute(at, command.upper(), args)


if __name__ == "__main__":
    host, prefix = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    store = Store(host, prefix, lambda line: print(line, flush=True))
    for text in sys.stdin:
        store.take(text)
