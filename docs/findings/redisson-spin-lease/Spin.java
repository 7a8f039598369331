// Redisson's spin lock, acquired with a short lease at first and then without one. With `fresh` the second call uses another lock object.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

class Spin {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));
    static final HashMap<String, RLock> held = new HashMap<>();

    public static void main(String[] words) throws Exception {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                if (parts[0].equals("release")) {
                    held.remove(parts[1]).unlock();
                    System.out.println("released");
                    continue;
                }
                var lock = client.getSpinLock(parts[1]);
                if (lock.tryLock(0, TTL / 4, TimeUnit.MILLISECONDS)) lock.unlock();
                if (words.length > 0) lock = client.getSpinLock(parts[1]);
                var granted = lock.tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS);
                held.put(parts[1], lock);
                System.out.println(granted ? "granted" : "refused");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
