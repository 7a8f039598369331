import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** lock(1, SECONDS), whose lease ends by itself, then lock() on the same object: which lease has the second lock? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var client = Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var locks = new LinkedHashMap<String, RLock>();
        locks.put("lock", client.getLock("lock"));
        locks.put("fair", client.getFairLock("fair"));
        locks.put("write", client.getReadWriteLock("write").writeLock());
        locks.put("read", client.getReadWriteLock("read").readLock());
        locks.put("fenced", client.getFencedLock("fenced"));
        locks.put("spin", client.getSpinLock("spin"));
        locks.put("group", client.getMultiLock("group", List.of("value")));
        for (var lock : locks.values()) lock.lock(1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        for (var entry : locks.entrySet()) {
            entry.getValue().lock();
            System.out.println(entry.getKey() + ": lock() after the lease has ended: " + client.getKeys().remainTimeToLive(entry.getKey()) + " ms");
        }
        var begin = System.nanoTime();
        var acquired = other.getLock("lock").tryLock(4, TimeUnit.SECONDS);
        System.out.println("another client: tryLock(4, SECONDS) of lock: " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");

        var nested = client.getLock("nested");
        nested.lock(1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        nested.lock();
        nested.lock();
        nested.unlock();
        System.out.println("nested: lock(), lock(), unlock(): " + nested.remainTimeToLive() + " ms");

        // Issue 4818: with unlock() in place of the end of the lease.
        var released = client.getMultiLock("released", List.of("value"));
        released.lock(1, TimeUnit.SECONDS);
        released.unlock();
        released.lock();
        System.out.println("group: lock() after unlock(): " + client.getKeys().remainTimeToLive("released") + " ms");
        System.exit(0);
    }
}
