"""The default connection of redis-py against the served node: no options, RESP3, a lock."""

import sys

import redis

port = int(sys.argv[1])
client = redis.Redis(port=port)
assert client.set("smoke", "1", nx=True, px=5000)
assert client.get("smoke") == b"1"
assert client.delete("smoke") == 1
with client.lock("smoke-lock", timeout=5):
    assert client.exists("smoke-lock") == 1
assert client.exists("smoke-lock") == 0
pubsub = client.pubsub()
pubsub.subscribe("smoke-channel")
assert pubsub.get_message(timeout=2)["type"] == "subscribe"
client.publish("smoke-channel", "x")
assert pubsub.get_message(timeout=2)["data"] == b"x"
with client.pipeline() as pipe:
    assert pipe.incr("smoke-count").expire("smoke-count", 10).execute() == [1, True]
client.delete("smoke-count")
print("redis-py", redis.__version__, "ok")
