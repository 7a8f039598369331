// Redisson's write lock with a lease. The client acquires two shorter read locks within it and releases one. With `equal` their leases are equal.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Shorter {
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
                    if (lock.readLock().isHeldByCurrentThread()) {
                        lock.readLock().unlock();
                    }
                    lock.writeLock().unlock();
                    System.out.println("released");
                } else if (!lock.writeLock().tryLock(Long.parseLong(parts[2]), TTL, TimeUnit.MILLISECONDS)) {
                    System.out.println("refused");
                } else {
                    var lease = words.length == 0 ? TTL / 4 : TTL;
                    lock.readLock().lock(lease, TimeUnit.MILLISECONDS);
                    lock.readLock().lock(lease, TimeUnit.MILLISECONDS);
                    lock.readLock().unlock();
                    System.out.println("granted");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
