// The locks of Curator, asked by picklock; the first argument says which: mutex, semaphore, write, read.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/zookeeper/lib/*:target/adapters/java/zookeeper/adapters.jar CuratorLocks mutex' --topology real-zookeeper:1 --set ttl=4s
// The lease is the session's time-out, which the client keeps alive. A renewal asks whether the session is still the one that holds.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.RetryForever;

class CuratorLocks {
    record Held(InterProcessLock lock, long session) {}

    static final Map<String, Held> held = new HashMap<>();

    static InterProcessLock of(String kind, CuratorFramework client, String path) {
        switch (kind) {
            case "semaphore": return new InterProcessSemaphoreMutex(client, path);
            case "write": return new InterProcessReadWriteLock(client, path).writeLock();
            case "read": return new InterProcessReadWriteLock(client, path).readLock();
            default: return new InterProcessMutex(client, path);
        }
    }

    static String answer(String kind, CuratorFramework client, String verb, String key, long wait) throws Exception {
        if (verb.equals("acquire")) {
            var lock = of(kind, client, "/" + key);
            if (!lock.acquire(wait, TimeUnit.MILLISECONDS)) return "refused";
            held.put(key, new Held(lock, client.getZookeeperClient().getZooKeeper().getSessionId()));
            return "granted";
        }
        if (verb.equals("renew")) {
            var now = client.getZookeeperClient();
            return now.isConnected() && now.getZooKeeper().getSessionId() == held.get(key).session ? "renewed" : "lost";
        }
        held.remove(key).lock.release();
        return "released";
    }

    public static void main(String[] words) throws Exception {
        var session = Integer.parseInt(System.getenv("PICKLOCK_TTL_MS"));
        var client = CuratorFrameworkFactory.newClient(System.getenv("PICKLOCK_STORES"), session, session, new RetryForever(100));
        client.start();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                System.out.println(answer(words[0], client, parts[0], parts[1], Long.parseLong(parts[2])));
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
