import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** lockAndGetToken(1, SECONDS) of RFencedLock: which lease has the lock, and when can another client acquire it after a crash? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        var third = Redisson.create(config);

        holder.getFencedLock("lock").lockAndGetToken(1, TimeUnit.SECONDS);
        System.out.println("holder: lockAndGetToken(1, SECONDS), remainTimeToLive: " + holder.getFencedLock("lock").remainTimeToLive() + " ms");
        holder.shutdown();
        System.out.println("holder: has crashed");
        var begin = System.nanoTime();
        var token = other.getFencedLock("lock").tryLockAndGetToken(5, TimeUnit.SECONDS);
        System.out.println("another client: tryLockAndGetToken(5, SECONDS): " + (token == null ? "null" : "a token") + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");

        // tryLockAndGetToken() without a time to wait, while another client holds the lock for 4 s.
        other.getLock("short").lock(4, TimeUnit.SECONDS);
        begin = System.nanoTime();
        token = third.getFencedLock("short").tryLockAndGetToken();
        System.out.println("third client: tryLockAndGetToken(): " + (token == null ? "null" : "a token") + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
        System.exit(0);
    }
}
