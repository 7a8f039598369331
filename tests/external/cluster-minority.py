"""The time for which a primary of a real Redis Cluster goes on granting once the majority is silent.

The five other nodes are stopped (SIGSTOP) at a random moment, and a client asks the primary for a lock again and again. The spans from
then on to the last grant are printed: one to one and a half node timeouts, and a beat of 0.1 s. `picklock experiment cluster-minority`
measures the same in simulated runs.
"""

import argparse
import random
import signal
import sys
import tempfile
import time

from cluster_nodes import Node, real_nodes, until

KEY, SLOT = "lock:1", 3430


def primary(nodes):
    """The node that has the slot, as the nodes agree. None if they do not."""
    named = set()
    for node in nodes:
        rows = [row for row in node.call("CLUSTER", "SLOTS") if row[0] <= SLOT <= row[1]]
        named.add(rows[0][2][1] if rows and b"cluster_state:ok" in node.call("CLUSTER", "INFO") else None)
    return named.pop() if len(named) == 1 else None


def is_whole(nodes):
    """True if nobody suspects anybody, and each primary has its replica."""
    rows = [row for node in nodes for row in node.call("CLUSTER", "SLOTS")]
    return primary(nodes) and all(b"fail" not in node.call("CLUSTER", "NODES") for node in nodes) and all(len(row) == 4 for row in rows)


def one_run(nodes, processes, timeout):
    """The span from the silence to the last grant, in seconds."""
    until(lambda: is_whole(nodes))
    time.sleep(timeout / 1000 + random.random() * timeout / 1000)
    until(lambda: is_whole(nodes))
    port = primary(nodes)
    node = next(node for node in nodes if node.port == port)
    others = [process for process, other in zip(processes, nodes) if other.port != port]
    for process in others:
        process.send_signal(signal.SIGSTOP)
    began = last = time.monotonic()
    try:
        while time.monotonic() < began + 3 * timeout / 1000:
            asked = time.monotonic()
            if node.call("SET", KEY, "x", "NX", "PX", 1000) == "+OK":
                last = asked
                node.call("DEL", KEY)
            time.sleep(0.002)
    finally:
        for process in others:
            process.send_signal(signal.SIGCONT)
    return last - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=17_401)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--node-timeout", type=int, default=2000, help="in milliseconds")
    args = parser.parse_args()
    processes, spans = [], []
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            ports, processes = real_nodes(args.port, directory, "--cluster-node-timeout", str(args.node_timeout))
            nodes = [Node(port) for port in ports]
            for _ in range(args.runs):
                spans.append(one_run(nodes, processes, args.node_timeout))
                print("%.3f s" % spans[-1], flush=True)
    finally:
        for process in processes:
            process.kill()
    spans.sort()
    print("%d runs: %.3f to %.3f s, median %.3f s" % (len(spans), spans[0], spans[-1], spans[len(spans) // 2]))
    least, most = args.node_timeout / 1000, 1.5 * args.node_timeout / 1000 + 0.1
    # A grant that was asked for just before, and the pace of the client, are worth a few milliseconds.
    return 0 if spans[0] > least - 0.05 and spans[-1] < most + 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
