import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** A thread releases the write lock after it has acquired the read lock within it. When do other clients acquire their locks? */
class Plain {
    static Thread waiter(String name, RLock lock, long began) {
        var waiter = new Thread(() -> {
            try {
                var acquired = lock.tryLock(25, TimeUnit.SECONDS);
                System.out.printf("another client: %s.tryLock(25, SECONDS): %b, %.1f s after the holder's acquire%n", name, acquired, (System.nanoTime() - began) / 1e9);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
        });
        waiter.start();
        return waiter;
    }

    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(20000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var lock = holder.getReadWriteLock("lock");
        var began = System.nanoTime();
        lock.writeLock().lock();
        var reader = waiter("readLock()", other.getReadWriteLock("lock").readLock(), began);
        Thread.sleep(1500);
        lock.readLock().lock();
        System.out.printf("holder: releases the write lock and keeps the read lock after %.1f s%n", (System.nanoTime() - began) / 1e9);
        lock.writeLock().unlock();
        reader.join();

        lock = holder.getReadWriteLock("another lock");
        began = System.nanoTime();
        lock.writeLock().lock(15, TimeUnit.SECONDS);
        lock.readLock().lock(1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        lock.writeLock().unlock();
        System.out.printf("holder: the lease of the read lock has ended, and writeLock().unlock() after %.1f s%n", (System.nanoTime() - began) / 1e9);
        waiter("writeLock()", other.getReadWriteLock("another lock").writeLock(), began).join();
        System.exit(0);
    }
}
