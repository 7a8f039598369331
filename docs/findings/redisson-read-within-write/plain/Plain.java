import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** A thread holds the write lock, acquires the read lock and releases the read lock. How long does it hold the write lock? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(4000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var lock = holder.getReadWriteLock("lock");
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.readLock().unlock();
        System.out.println("holder: writeLock().isHeldByCurrentThread(): " + lock.writeLock().isHeldByCurrentThread());
        var begin = System.nanoTime();
        var acquired = other.getReadWriteLock("lock").writeLock().tryLock(10, TimeUnit.SECONDS);
        System.out.println("another client: writeLock().tryLock(10, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        try {
            lock.writeLock().unlock();
            System.out.println("holder: writeLock().unlock()");
        } catch (IllegalMonitorStateException error) {
            System.out.println("holder: writeLock().unlock(): " + error);
        }
        System.exit(0);
    }
}
