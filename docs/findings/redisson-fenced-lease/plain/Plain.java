import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** lockAndGetToken(1, SECONDS) of RFencedLock: which lease has the lock, and when can another client acquire it after a crash? */
class Plain {
    static final String LOCK = "lock";

    public static void main(String[] args) throws Exception {
        var config = new Config().setLockWatchdogTimeout(6000);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);

        var token = holder.getFencedLock(LOCK).lockAndGetToken(1, TimeUnit.SECONDS);
        System.out.println("holder: lockAndGetToken(1, SECONDS) = " + token + ", remainTimeToLive = " + holder.getLock(LOCK).remainTimeToLive() + " ms");
        Thread.sleep(3000);
        System.out.println("after 3 s: isLocked = " + other.getLock(LOCK).isLocked());

        // Without its client, nothing renews the lock: the same as a crash of the process.
        holder.shutdown();
        var begin = System.nanoTime();
        other.getFencedLock(LOCK).lockAndGetToken();
        System.out.println("other: acquires the lock " + (System.nanoTime() - begin) / 1_000_000 + " ms after the crash");
        System.exit(0);
    }
}
