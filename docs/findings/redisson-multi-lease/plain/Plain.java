import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** lock(2, SECONDS) of a multi-lock, whose first attempt does not acquire it: which lease has the lock? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);

        // Another client has one of the two locks for 5 s. The first attempt of lock(2, SECONDS) lasts 1 s to 2 s.
        other.getLock("b").lock(5, TimeUnit.SECONDS);
        var begin = System.nanoTime();
        holder.getMultiLock(holder.getLock("a"), holder.getLock("b")).lock(2, TimeUnit.SECONDS);
        var ttl = holder.getLock("a").remainTimeToLive();
        System.out.println("holder: lock(2, SECONDS) has acquired the lock after " + (System.nanoTime() - begin) / 1_000_000 + " ms, remainTimeToLive: " + ttl + " ms");
        holder.shutdown();
        System.out.println("holder: has crashed");
        begin = System.nanoTime();
        var acquired = other.getMultiLock(other.getLock("a"), other.getLock("b")).tryLock(8, TimeUnit.SECONDS);
        System.out.println("another client: tryLock(8, SECONDS): " + acquired + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        System.exit(0);
    }
}
