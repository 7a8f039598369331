// ShedLock's provider on Spring Data Redis and Lettuce, asked by picklock.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lib/*:target/adapters/java/adapters.jar ShedLock'
// With the word `safe` it is built with safeUpdate(true): a release and an extension compare the owner.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ShedLock {
    static final Duration LEASE = Duration.ofMillis(Long.parseLong(System.getenv("PICKLOCK_TTL_MS")));
    static final Map<String, SimpleLock> held = new HashMap<>();

    static String answer(RedisLockProvider provider, String verb, String key) {
        if (verb.equals("release")) {
            held.remove(key).unlock();
            return "released";
        }
        var acquires = verb.equals("acquire");
        Optional<SimpleLock> lock = acquires
            ? provider.lock(new LockConfiguration(Instant.now(), key, LEASE, Duration.ZERO))
            : held.remove(key).extend(LEASE, Duration.ZERO);
        lock.ifPresent(granted -> held.put(key, granted));
        if (acquires) return lock.isPresent() ? "granted" : "refused";
        return lock.isPresent() ? "renewed" : "lost";
    }

    public static void main(String[] words) throws Exception {
        var store = URI.create(System.getenv("PICKLOCK_STORES"));
        var connections = new LettuceConnectionFactory(store.getHost(), store.getPort());
        connections.afterPropertiesSet();
        connections.start();
        var provider = new RedisLockProvider.Builder(connections).safeUpdate(words.length > 0).build();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                System.out.println(answer(provider, parts[0], parts[1]));
            } catch (RuntimeException error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
