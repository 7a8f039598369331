// Curator's InterProcessReadWriteLock: the write lock, and after a while the read lock in its place.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryForever;

class CuratorDowngrade {
    public static void main(String[] words) throws Exception {
        var session = Integer.parseInt(System.getenv("PICKLOCK_TTL_MS"));
        var client = CuratorFrameworkFactory.newClient(System.getenv("PICKLOCK_STORES"), session, session, new RetryForever(100));
        client.start();
        Map<String, InterProcessLock> held = new HashMap<>();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                if (parts[0].equals("acquire")) {
                    var lock = new InterProcessReadWriteLock(client, "/" + parts[1]);
                    var granted = lock.writeLock().acquire(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS);
                    if (granted) {
                        Thread.sleep(session / 10);
                        lock.readLock().acquire();
                        lock.writeLock().release();
                        held.put(parts[1], lock.readLock());
                    }
                    System.out.println(granted ? "granted" : "refused");
                } else {
                    held.remove(parts[1]).release();
                    System.out.println("released");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
