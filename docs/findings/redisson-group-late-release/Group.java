// Redisson's multi-lock of a group, of one value, acquired with a lease. With `plain` it is a plain lock.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Group {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var lock = words.length == 0 ? client.getMultiLock(parts[1], List.of("value")) : client.getLock(parts[1]);
                if (parts[0].equals("release")) {
                    lock.unlock();
                    System.out.println("released");
                    continue;
                }
                System.out.println(lock.tryLock(Long.parseLong(parts[2]), TTL, TimeUnit.MILLISECONDS) ? "granted" : "refused");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
