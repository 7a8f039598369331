import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** Two threads of a client hold one value each of a group. How long does each hold its value? */
class Plain {
    static String held(long begin, boolean acquired) {
        return acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms";
    }

    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(4000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        var first = holder.getMultiLock("group", List.of("a"));
        var second = holder.getMultiLock("group", List.of("b"));
        var thread = new Thread(first::lock);
        thread.start();
        thread.join();
        second.lock();
        var begin = System.nanoTime();
        System.out.println("another client: tryLock(8, SECONDS) of b: " + held(begin, other.getMultiLock("group", List.of("b")).tryLock(8, TimeUnit.SECONDS)));
        System.out.println("another client: tryLock() of a: " + held(begin, other.getMultiLock("group", List.of("a")).tryLock()));
        try {
            second.unlock();
            System.out.println("holder: unlock() of b");
        } catch (IllegalMonitorStateException error) {
            System.out.println("holder: unlock() of b: " + error);
        }

        // The same after the release of the first lock.
        var released = holder.getMultiLock("released", List.of("a"));
        released.lock();
        var kept = new Thread(() -> holder.getMultiLock("released", List.of("b")).lock());
        kept.start();
        kept.join();
        released.unlock();
        begin = System.nanoTime();
        System.out.println("another client: tryLock(8, SECONDS) of b after the release of a: " + held(begin, other.getMultiLock("released", List.of("b")).tryLock(8, TimeUnit.SECONDS)));
        System.exit(0);
    }
}
