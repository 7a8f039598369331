import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** The lease of a lock of a group ends, and the same thread acquires and releases the lock again. Is it free then? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var first = Redisson.create(config);
        var second = Redisson.create(config);
        // Another value of the group is held throughout, so that the key of the group does not expire.
        second.getMultiLock("group", List.of("another value")).lock();

        var lock = first.getMultiLock("group", List.of("value"));
        lock.lock(1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        System.out.println("first client: lock(1, SECONDS), and the lease has ended");
        lock.lock(10, TimeUnit.SECONDS);
        System.out.println("first client: lock(10, SECONDS)");
        lock.unlock();
        System.out.println("first client: unlock(), isLocked(): " + lock.isLocked());
        var begin = System.nanoTime();
        var acquired = second.getMultiLock("group", List.of("value")).tryLock(15, TimeUnit.SECONDS);
        System.out.println("second client: tryLock(15, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        System.exit(0);
    }
}
