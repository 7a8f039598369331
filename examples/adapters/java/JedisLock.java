// A lease lock by hand on Jedis, asked by picklock.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lib/*:target/adapters/java/adapters.jar JedisLock'
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;

class JedisLock {
    static final String RELEASE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    static final String RENEW =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";
    static final String TTL = System.getenv("PICKLOCK_TTL_MS");
    static RedisClient store;
    static final Map<String, String> held = new HashMap<>();

    static String answer(String verb, String key) {
        if (verb.equals("close")) {
            store.close();
            store = null;
            return "closed";
        }
        if (store == null) store = RedisClient.create(System.getenv("PICKLOCK_STORES"));
        if (verb.equals("acquire")) {
            var owner = UUID.randomUUID().toString();
            if (store.set(key, owner, new SetParams().nx().px(Long.parseLong(TTL))) == null) return "refused";
            held.put(key, owner);
            return "granted";
        }
        var script = verb.equals("renew") ? RENEW : RELEASE;
        var done = store.eval(script, List.of(key), List.of(held.get(key), TTL)).equals(1L);
        if (verb.equals("renew")) return done ? "renewed" : "lost";
        return done ? "released" : "error it was not held any more";
    }

    public static void main(String[] words) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                System.out.println(answer(parts[0], parts[1]));
            } catch (JedisException error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
    }
}
