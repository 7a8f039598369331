// Redisson's multi-lock of one lock on each of several stores, renewed by the watchdog. With `each` the caller releases each lock.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

class Multi {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    static RedissonClient client(String address) {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        return Redisson.create(config);
    }

    static void unlock(RLock lock) {
        try {
            lock.unlock();
        } catch (RuntimeException lost) {
            System.err.println(lost);
        }
    }

    public static void main(String[] words) throws Exception {
        var clients = Stream.of(System.getenv("PICKLOCK_STORES").split(",")).map(Multi::client).toList();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var locks = clients.stream().map(client -> client.getLock(parts[1])).toArray(RLock[]::new);
                var lock = new RedissonMultiLock(locks);
                if (parts[0].equals("acquire")) {
                    var granted = lock.tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS);
                    System.out.println(granted ? "granted" : "refused");
                    continue;
                }
                if (words.length == 0) lock.unlock();
                else Stream.of(locks).forEach(Multi::unlock);
                System.out.println("released");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
