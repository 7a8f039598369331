"""How long nobody is granted a lock on a real Redis Cluster: after a primary was killed, after it was started anew at once, and after the
nodes that it did not reach are back.

    cluster-bounds.py [--runs N] [--node-timeout MS]

prints the least, the median and the most of each. `cargo test -p picklock-redis --lib cluster::bounds` measures the same in simulated nodes.
"""

import argparse
import random
import signal
import tempfile
import time

from cluster_nodes import Node, real_node, real_nodes, until, wait_for

KEY, SLOT = "lock:1", 3430


class Nodes:
    """The six nodes with their processes; one may be down."""

    def __init__(self, ports, processes, directory, more):
        self.ports, self.directory, self.more = ports, directory, more
        self.processes = dict(zip(ports, processes))
        self.nodes = {port: Node(port) for port in ports}

    def rows(self, port):
        return [row for row in self.nodes[port].call("CLUSTER", "SLOTS") if row[0] <= SLOT <= row[1]]

    def settled(self):
        """The primary of the slot once all agree, and each primary has its replica."""
        named = set()
        for port, node in self.nodes.items():
            rows = node.call("CLUSTER", "SLOTS")
            if b"cluster_state:ok" not in node.call("CLUSTER", "INFO") or b"fail" in node.call("CLUSTER", "NODES"):
                return None
            if not all(len(row) == 4 for row in rows):
                return None
            named.add(self.rows(port)[0][2][1])
        return named.pop() if len(named) == 1 else None

    def primary(self):
        until(self.settled)
        time.sleep(1 + random.random())
        until(self.settled)
        return self.settled()

    def start(self, port):
        self.processes[port] = real_node(port, self.directory, *self.more)

    def kill(self, port):
        self.processes[port].kill()
        self.processes[port].wait()


def granted(port, since, limit=30):
    """When this node first grants the lock."""
    node = None
    while time.monotonic() < since + limit:
        try:
            node = node or Node(port)
            if node.call("SET", KEY, "x", "NX", "PX", 1000) == "+OK":
                at = time.monotonic()
                node.call("DEL", KEY)
                return at
        except (OSError, EOFError, ValueError):
            node = None
        time.sleep(0.002)
    raise SystemExit("nobody grants")


def failover(nodes, _):
    """From the death of the primary to the first grant of its replica."""
    primary = nodes.primary()
    replica = nodes.rows(primary)[0][3][1]
    nodes.nodes[primary].call("DEL", KEY)
    began = time.monotonic()
    nodes.kill(primary)
    span = granted(replica, began) - began
    nodes.start(primary)
    nodes.nodes[primary] = wait_for(primary)
    return span


def restart(nodes, _):
    """From the answer of a primary that was killed and started at once to its first grant."""
    primary = nodes.primary()
    nodes.kill(primary)
    nodes.start(primary)
    nodes.nodes[primary] = wait_for(primary)
    began = time.monotonic()
    return granted(primary, began) - began


def heal(nodes, timeout):
    """From the return of all others, which were stopped for two node timeouts, to the first grant."""
    primary = nodes.primary()
    others = [process for port, process in nodes.processes.items() if port != primary]
    for process in others:
        process.send_signal(signal.SIGSTOP)
    time.sleep(2 * timeout + random.random())
    began = time.monotonic()
    for process in others:
        process.send_signal(signal.SIGCONT)
    return granted(primary, began) - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=18_701)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--node-timeout", type=int, default=2000, help="in milliseconds")
    args = parser.parse_args()
    nodes, processes = None, []
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            more = ["--cluster-node-timeout", str(args.node_timeout)]
            ports, processes = real_nodes(args.port, directory, *more)
            nodes = Nodes(ports, processes, directory, more)
            for measure in (failover, restart, heal):
                spans = sorted(measure(nodes, args.node_timeout / 1000) for _ in range(args.runs))
                least, middle, most = spans[0], spans[len(spans) // 2], spans[-1]
                print("%-8s %d runs: %.3f to %.3f s, median %.3f s" % (measure.__name__, len(spans), least, most, middle), flush=True)
    finally:
        for process in nodes.processes.values() if nodes else processes:
            process.kill()


if __name__ == "__main__":
    main()
