// ShedLock's provider on Spring Data Redis and Jedis. With the word `safe` it is built with safeUpdate(true).
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class ShedLock {
    public static void main(String[] words) throws Exception {
        var store = URI.create(System.getenv("PICKLOCK_STORES"));
        var lease = Duration.ofMillis(Long.parseLong(System.getenv("PICKLOCK_TTL_MS")));
        var connections = new JedisConnectionFactory(new RedisStandaloneConfiguration(store.getHost(), store.getPort()));
        connections.afterPropertiesSet();
        connections.start();
        var provider = new RedisLockProvider.Builder(connections).safeUpdate(words.length > 0).build();
        Map<String, SimpleLock> held = new HashMap<>();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                if (parts[0].equals("acquire")) {
                    var lock = provider.lock(new LockConfiguration(Instant.now(), parts[1], lease, Duration.ZERO));
                    lock.ifPresent(granted -> held.put(parts[1], granted));
                    System.out.println(lock.isPresent() ? "granted" : "refused");
                } else {
                    held.remove(parts[1]).unlock();
                    System.out.println("released");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
    }
}
