import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** A thread acquires and releases a lock in a loop, with the default settings. Is each of its locks renewed? */
class Plain {
    /** The locks that the watchdog renews. It is read to learn which lock to keep, and never changed. */
    static Map<?, ?> renewed(Redisson client) throws Exception {
        var scheduler = client.getServiceManager().getRenewalScheduler();
        var reference = scheduler.getClass().getDeclaredField("reference");
        reference.setAccessible(true);
        var task = ((AtomicReference<?>) reference.get(scheduler)).get();
        var entries = task.getClass().getSuperclass().getDeclaredField("name2entry");
        entries.setAccessible(true);
        return (Map<?, ?>) entries.get(task);
    }

    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = (Redisson) Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var lock = holder.getLock("lock");
        lock.lock();
        var renewed = renewed(holder);
        var acquires = 1;
        var begin = System.nanoTime();
        while (renewed.containsKey("lock") && System.nanoTime() - begin < 40e9) {
            lock.unlock();
            lock.lock();
            acquires++;
        }
        System.out.printf("holder: keeps the lock of acquire %d after %.1f s, renewed: %b%n", acquires, (System.nanoTime() - begin) / 1e9, renewed.containsKey("lock"));
        begin = System.nanoTime();
        var acquired = other.getLock("lock").tryLock(40, TimeUnit.SECONDS);
        System.out.println("another client: tryLock(40, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        try {
            lock.unlock();
            System.out.println("holder: unlock()");
        } catch (IllegalMonitorStateException error) {
            System.out.println("holder: unlock(): " + error);
        }
        System.exit(0);
    }
}
