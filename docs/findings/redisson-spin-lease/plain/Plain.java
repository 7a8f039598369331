import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** tryLock(0, 2, SECONDS) of a spin lock that another client holds, then tryLock(10, SECONDS) on the same object: which lease has the lock? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var first = Redisson.create(config);
        var second = Redisson.create(config);
        var third = Redisson.create(config);
        System.out.println("lockWatchdogTimeout: " + config.getLockWatchdogTimeout() + " ms");

        first.getSpinLock("spin").lock();
        var lock = second.getSpinLock("spin");
        System.out.println("second client: tryLock(0, 2, SECONDS): " + lock.tryLock(0, 2, TimeUnit.SECONDS));
        first.getSpinLock("spin").unlock();
        System.out.println("second client: tryLock(10, SECONDS): " + lock.tryLock(10, TimeUnit.SECONDS) + ", remainTimeToLive: " + lock.remainTimeToLive() + " ms");
        var begin = System.nanoTime();
        var acquired = third.getSpinLock("spin").tryLock(5, TimeUnit.SECONDS);
        System.out.println("third client: tryLock(5, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms, and the second client has not released the lock");
        System.exit(0);
    }
}
