// Spring Integration's RedisLockRegistry on Lettuce, asked by picklock.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lib/*:target/adapters/java/adapters.jar SpringLocks'
// With the word `two`, client-1 also holds the lock of another key, which shares a lock of the process with the first.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

class SpringLocks {
    /** The registry excludes the threads of a process by 256 locks of its own: this key and the other one share one of them. */
    static String neighbour(String key) {
        var bucket = ("locks:" + key).hashCode() & 255;
        int number = 0;
        while ((("locks:" + key + "-" + number).hashCode() & 255) != bucket) number++;
        return key + "-" + number;
    }

    static LettuceConnectionFactory connections;
    static RedisLockRegistry registry;

    static void open() {
        var store = URI.create(System.getenv("PICKLOCK_STORES"));
        connections = new LettuceConnectionFactory(store.getHost(), store.getPort());
        connections.afterPropertiesSet();
        connections.start();
        registry = new RedisLockRegistry(connections, "locks", Long.parseLong(System.getenv("PICKLOCK_TTL_MS")));
    }

    static void close() {
        registry.destroy();
        connections.destroy();
        registry = null;
    }

    public static void main(String[] words) throws Exception {
        open();
        Lock beside = null;
        Map<String, Lock> held = new HashMap<>();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                if (registry == null) open();
                if (parts[0].equals("close")) {
                    close();
                    System.out.println("closed");
                } else if (parts[0].equals("acquire")) {
                    if (words.length > 0 && beside == null) {
                        beside = registry.obtain(neighbour(parts[1]));
                        beside.tryLock();
                    }
                    var lock = registry.obtain(parts[1]);
                    var granted = lock.tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS);
                    if (granted) held.put(parts[1], lock);
                    System.out.println(granted ? "granted" : "refused");
                } else {
                    held.remove(parts[1]).unlock();
                    System.out.println("released");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
