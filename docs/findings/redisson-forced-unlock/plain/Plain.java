import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** A process holds a lock without a lease, and calls forceUnlock() of another lock. Is the lock that it holds renewed? */
class Plain {
    static void attempt(RLock lock) throws InterruptedException {
        var begin = System.nanoTime();
        var acquired = lock.tryLock(8, TimeUnit.SECONDS);
        System.out.println("another client: tryLock(8, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
    }

    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(3000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var lock = holder.getReadWriteLock("lock");
        lock.writeLock().lock();
        System.out.println("holder: writeLock().lock(), readLock().forceUnlock(): " + lock.readLock().forceUnlock());
        attempt(other.getReadWriteLock("lock").writeLock());

        holder.getMultiLock("group", List.of("a")).lock();
        other.getMultiLock("group", List.of("b")).lock();
        System.out.println("holder: lock() of a, forceUnlock() of b: " + holder.getMultiLock("group", List.of("b")).forceUnlock());
        attempt(other.getMultiLock("group", List.of("a")));

        try {
            holder.getMultiLock("group", List.of("b", "c")).forceUnlock();
            System.out.println("holder: forceUnlock() of values that are not held");
        } catch (Exception error) {
            System.out.println("holder: forceUnlock() of values that are not held: " + error.getMessage().split("\\. channel")[0]);
        }
        System.exit(0);
    }
}
