// Redisson's multi-lock of two locks of one store, acquired with a lease in seconds. With `milliseconds` the lease is in milliseconds.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Multi {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var lock = client.getMultiLock(client.getLock(parts[1]), client.getLock("other"));
                if (parts[0].equals("release")) {
                    lock.unlock();
                    System.out.println("released");
                    continue;
                }
                if (words.length == 0) lock.lock(TTL / 1000, TimeUnit.SECONDS);
                else lock.lock(TTL, TimeUnit.MILLISECONDS);
                System.out.println("granted");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
