import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One of two servers loses the lock of a multi-lock, and the holder calls unlock(). When can another process acquire the multi-lock? */
class Plain {
    static RedissonClient client(String port) {
        var config = new Config().setLockWatchdogTimeout(3000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    public static void main(String[] args) throws Exception {
        RedissonClient holder1 = client(args[0]), holder2 = client(args[1]), other1 = client(args[0]), other2 = client(args[1]);
        System.out.println("lockWatchdogTimeout: 3000 ms");

        var lock = holder1.getMultiLock(holder1.getLock("lock"), holder2.getLock("lock"));
        lock.lock();
        other1.getKeys().flushall();
        System.out.println("first server: has lost its data");
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException error) {
            System.out.println("holder: unlock(): " + error);
        }
        var begin = System.nanoTime();
        var acquired = other1.getMultiLock(other1.getLock("lock"), other2.getLock("lock")).tryLock(12, TimeUnit.SECONDS);
        System.out.println("another process: tryLock(12, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        System.out.println("second server: remainTimeToLive: " + (acquired ? "of the other process" : other2.getLock("lock").remainTimeToLive() + " ms"));
        System.exit(0);
    }
}
