"""The six nodes of a Redis Cluster, real (redis-server) or simulated (`picklock serve --topology cluster:3`): three shards, a replica each.

    cluster_nodes.py --port 17001 [--picklock PROGRAM] -- COMMAND ...

starts the nodes at this port and the next five, runs the command, and stops the nodes. Without --picklock they are real. With --alone there
is one node that has all slots, as Redis's own tests want it.
"""

import argparse
import socket
import subprocess
import sys
import tempfile
import time

SHARDS = [(0, 5460), (5461, 10922), (10923, 16383)]
NODES = 6


class Node:
    """A connection to one node."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rb")

    def call(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"".join(parts))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        if not line:
            raise EOFError("the node has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind in b"+-":
            return (kind + rest).decode(errors="replace")
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind == b"*":
            size = int(rest)
            return None if size < 0 else [self.reply() for _ in range(size)]
        raise ValueError(line)


def real_node(port, directory, *more):
    """A real node that knows no other, as a process."""
    config = ["--port", port, "--cluster-enabled", "yes", "--cluster-config-file", "nodes-%d.conf" % port]
    config += ["--cluster-node-timeout", "5000", "--save", "", "--appendonly", "no", "--dir", directory]
    config += ["--repl-diskless-sync-delay", "0", "--loglevel", "warning", "--enable-debug-command", "yes", *more]
    return subprocess.Popen(["redis-server"] + [str(word) for word in config], stdout=subprocess.DEVNULL)


def real_nodes(first, directory, *more):
    """Six real nodes that are a cluster, with more options if there are any."""
    ports = [first + at for at in range(NODES)]
    processes = [real_node(port, directory, *more) for port in ports]
    nodes = [wait_for(port) for port in ports]
    for at, (start, end) in enumerate(SHARDS):
        nodes[at].call("CLUSTER", "ADDSLOTSRANGE", start, end)
    for at, node in enumerate(nodes):
        node.call("CLUSTER", "SET-CONFIG-EPOCH", at + 1)
    for port in ports[1:]:
        nodes[0].call("CLUSTER", "MEET", "127.0.0.1", port)
    until(lambda: all(b"cluster_known_nodes:6" in node.call("CLUSTER", "INFO") for node in nodes))
    ids = [node.call("CLUSTER", "MYID") for node in nodes]
    for at in range(3):
        until(lambda: nodes[3 + at].call("CLUSTER", "REPLICATE", ids[at]) == "+OK")
    until(lambda: all(b"cluster_state:ok" in node.call("CLUSTER", "INFO") for node in nodes))
    until(lambda: all(len(row) == 4 for node in nodes for row in node.call("CLUSTER", "SLOTS")))
    return ports, processes


def real_node_alone(port, directory):
    """A real node that has all slots."""
    process = real_node(port, directory)
    node = wait_for(port)
    node.call("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    until(lambda: b"cluster_state:ok" in node.call("CLUSTER", "INFO"))
    return [process]


def wait_for(port):
    for _ in range(200):
        try:
            node = Node(port)
            if node.call("PING") == "+PONG":
                return node
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("nobody answers at port %d" % port)


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise SystemExit("the real cluster does not come about")


def simulated_nodes(picklock, first, *more, topology="cluster:3", nodes=NODES):
    """Six simulated nodes, with more options if there are any."""
    command = [picklock, "serve", "--quiet", "--topology", topology, "--port", str(first), "--down-after", "5s", *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for(first + nodes - 1)
    time.sleep(3)
    return [first + at for at in range(nodes)], [process]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=17_001)
    parser.add_argument("--picklock", help="the program that simulates the nodes")
    parser.add_argument("--alone", action="store_true", help="one node with all slots")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    processes = []
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            if args.picklock and args.alone:
                more = ["--set", "replicas=0"]
                _, processes = simulated_nodes(args.picklock, args.port, *more, topology="cluster:1", nodes=1)
            elif args.picklock:
                _, processes = simulated_nodes(args.picklock, args.port)
            elif args.alone:
                processes = real_node_alone(args.port, directory)
            else:
                _, processes = real_nodes(args.port, directory)
            return subprocess.run(args.command).returncode
    finally:
        for process in processes:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
