// Redisson's lock on Redis Cluster. The first argument is `lock`, or `spin` for the lock that subscribes to nothing.
// The client reads the slots every second instead of every five seconds, for shorter runs.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

class Moved {
    public static void main(String[] words) throws Exception {
        var config = new Config();
        config.setLockWatchdogTimeout(Long.parseLong(System.getenv("PICKLOCK_TTL_MS")));
        var servers = config.useClusterServers().setScanInterval(1000).setMasterConnectionMinimumIdleSize(1).setSlaveConnectionMinimumIdleSize(1);
        for (var node : System.getenv("PICKLOCK_CLUSTER").split(",")) servers.addNodeAddress("redis://" + node);
        var client = Redisson.create(config);
        RLock held = null;
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                if (parts[0].equals("acquire")) {
                    held = words[0].equals("spin") ? client.getSpinLock(parts[1]) : client.getLock(parts[1]);
                    var granted = held.tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS);
                    System.out.println(granted ? "granted" : "refused");
                } else {
                    held.unlock();
                    System.out.println("released");
                }
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
