import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A thread holds the write lock with a lease of 20 s and acquires the read lock within it. For how long is the write lock held? */
class Plain {
    static RedissonClient holder, other;

    static void attempt(String name, long began) throws InterruptedException {
        var lock = holder.getReadWriteLock(name);
        System.out.println("holder: writeLock().remainTimeToLive(): " + lock.writeLock().remainTimeToLive() + " ms");
        var next = other.getReadWriteLock(name).writeLock();
        var acquired = next.tryLock(8, TimeUnit.SECONDS);
        System.out.printf("another client: writeLock().tryLock(8, SECONDS): %b, %.1f s after the holder's acquire%n", acquired, (System.nanoTime() - began) / 1e9);
        try {
            lock.writeLock().unlock();
            System.out.println("holder: writeLock().unlock()");
        } catch (IllegalMonitorStateException error) {
            System.out.println("holder: writeLock().unlock(): " + error);
        }
    }

    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(3000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        holder = Redisson.create(config);
        other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var released = holder.getReadWriteLock("released");
        var began = System.nanoTime();
        released.writeLock().lock(20, TimeUnit.SECONDS);
        released.readLock().lock(3, TimeUnit.SECONDS);
        released.readLock().lock(3, TimeUnit.SECONDS);
        released.readLock().unlock();
        System.out.println("holder: has released one of two read locks of 3 s");
        attempt("released", began);

        var renewed = holder.getReadWriteLock("renewed");
        began = System.nanoTime();
        renewed.writeLock().lock(20, TimeUnit.SECONDS);
        renewed.readLock().lock();
        Thread.sleep(2000);
        renewed.readLock().unlock();
        System.out.println("holder: has held a read lock without a lease for 2 s");
        attempt("renewed", began);

        holder.getReadWriteLock("shared").readLock().lock(20, TimeUnit.SECONDS);
        var crashed = Redisson.create(config);
        crashed.getReadWriteLock("shared").readLock().lock();
        Thread.sleep(1500);
        crashed.shutdown();
        System.out.println("holder: holds the read lock for 20 s, and a client with a read lock of its own has ended");
        System.out.println("another client: writeLock().tryLock(8, SECONDS): " + other.getReadWriteLock("shared").writeLock().tryLock(8, TimeUnit.SECONDS));
        System.exit(0);
    }
}
