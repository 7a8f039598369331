// Redisson's write lock. The client calls forceUnlock() of the read lock while it holds it. With `alone` it does not.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Forced {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var lock = client.getReadWriteLock(parts[1]);
                if (parts[0].equals("release")) {
                    lock.writeLock().unlock();
                    System.out.println("released");
                } else if (!lock.writeLock().tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS)) {
                    System.out.println("refused");
                } else {
                    if (words.length == 0) {
                        lock.readLock().forceUnlock();
                    }
                    System.out.println("granted");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
