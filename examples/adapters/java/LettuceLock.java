// A lease lock by hand on Lettuce, on one Redis or on Redis Cluster, asked by picklock.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lib/*:target/adapters/java/adapters.jar LettuceLock'
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

class LettuceLock {
    static final String RELEASE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    static final String RENEW =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";
    static final String TTL = System.getenv("PICKLOCK_TTL_MS");
    static final Map<String, String> held = new HashMap<>();
    static AbstractRedisClient client;
    static RedisClusterCommands<String, String> store;

    static void open() {
        var addresses = new ArrayList<RedisURI>();
        for (var store : System.getenv("PICKLOCK_STORES").split(",")) {
            var address = RedisURI.create(store);
            address.setTimeout(Duration.ofSeconds(2));
            addresses.add(address);
        }
        if (System.getenv("PICKLOCK_CLUSTER") == null) {
            var single = RedisClient.create(addresses.get(0));
            client = single;
            store = connected(() -> single.connect().sync());
        } else {
            var cluster = RedisClusterClient.create(addresses);
            client = cluster;
            store = connected(() -> cluster.connect().sync());
        }
    }

    /** A client that cannot connect is given up: the next request makes another one. */
    static <S> S connected(Supplier<S> connect) {
        try {
            return connect.get();
        } catch (RuntimeException unreachable) {
            client.shutdown();
            client = null;
            throw unreachable;
        }
    }

    static String answer(String verb, String key) {
        if (verb.equals("close")) {
            client.shutdown();
            client = null;
            return "closed";
        }
        if (client == null) open();
        if (verb.equals("acquire")) {
            var owner = UUID.randomUUID().toString();
            if (store.set(key, owner, SetArgs.Builder.nx().px(Long.parseLong(TTL))) == null) return "refused";
            held.put(key, owner);
            return "granted";
        }
        var script = verb.equals("renew") ? RENEW : RELEASE;
        boolean done = store.eval(script, ScriptOutputType.BOOLEAN, new String[] {key}, held.get(key), TTL);
        if (verb.equals("renew")) return done ? "renewed" : "lost";
        return done ? "released" : "error it was not held any more";
    }

    public static void main(String[] words) throws Exception {
        open();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                System.out.println(answer(parts[0], parts[1]));
            } catch (RuntimeException error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
