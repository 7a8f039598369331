"""The lock of a service, as it is used there: a lease in Redis, compared before it is deleted."""
import uuid

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


class Lease:
    def __init__(self, store, key, ttl_ms):
        self.store, self.key, self.ttl_ms = store, key, ttl_ms
        self.owner = str(uuid.uuid4())

    def acquire(self):
        return bool(self.store.set(self.key, self.owner, nx=True, px=self.ttl_ms))

    def release(self):
        return self.store.eval(RELEASE, 1, self.key, self.owner) == 1
