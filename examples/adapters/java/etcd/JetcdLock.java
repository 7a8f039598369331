// jetcd's Lock with a lease for each acquire, asked by picklock.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/etcd/lib/*:target/adapters/java/etcd/adapters.jar JetcdLock' --topology real-etcd:1 --set ttl=2s
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

class JetcdLock {
    record Held(ByteSequence key, long lease) {}

    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS")) / 1000;
    static final Map<String, Held> held = new HashMap<>();
    static Client client;

    static String acquire(String key, long wait) throws Exception {
        var lease = client.getLeaseClient().grant(TTL).get(wait, TimeUnit.MILLISECONDS).getID();
        var asked = client.getLockClient().lock(ByteSequence.from(key, StandardCharsets.UTF_8), lease);
        try {
            held.put(key, new Held(asked.get(wait, TimeUnit.MILLISECONDS).getKey(), lease));
            return "granted";
        } catch (TimeoutException late) {
            asked.cancel(true);
            client.getLeaseClient().revoke(lease);
            return "refused";
        }
    }

    static String answer(String verb, String key, long wait) throws Exception {
        if (verb.equals("acquire")) return acquire(key, wait);
        if (verb.equals("renew")) {
            var left = client.getLeaseClient().keepAliveOnce(held.get(key).lease).get(TTL, TimeUnit.SECONDS).getTTL();
            return left > 0 ? "renewed" : "lost";
        }
        var gone = held.remove(key);
        client.getLockClient().unlock(gone.key).get(TTL, TimeUnit.SECONDS);
        client.getLeaseClient().revoke(gone.lease).get(TTL, TimeUnit.SECONDS);
        return "released";
    }

    public static void main(String[] words) throws Exception {
        client = Client.builder().endpoints(System.getenv("PICKLOCK_STORES").split(",")).build();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                System.out.println(answer(parts[0], parts[1], Long.parseLong(parts[2])));
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
