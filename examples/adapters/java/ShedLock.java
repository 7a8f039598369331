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

    static LettuceConnectionFactory connections;
    static RedisLockProvider provider;

    static void open(boolean safe) {
        var store = URI.create(System.getenv("PICKLOCK_STORES"));
        connections = new LettuceConnectionFactory(store.getHost(), store.getPort());
        connections.afterPropertiesSet();
        connections.start();
        provider = new RedisLockProvider.Builder(connections).safeUpdate(safe).build();
    }

    static String answer(String verb, String key) {
        if (verb.equals("close")) {
            connections.destroy();
            provider = null;
            return "closed";
        }
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
        open(words.length > 0);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                if (provider == null) open(words.length > 0);
                System.out.println(answer(parts[0], parts[1]));
            } catch (RuntimeException error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
