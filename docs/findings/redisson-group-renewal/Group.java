// Redisson's multi-lock of a group, while another thread of the process holds another value of it. With `alone` no other thread does.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Group {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config().setLockWatchdogTimeout(TTL);
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var lock = client.getMultiLock("group", List.of(parts[1]));
                if (parts[0].equals("release")) {
                    lock.unlock();
                    System.out.println("released");
                    continue;
                }
                if (words.length == 0) {
                    var beside = new Thread(() -> client.getMultiLock("group", List.of(client.getId())).tryLock());
                    beside.start();
                    beside.join();
                }
                System.out.println(lock.tryLock(Long.parseLong(parts[2]), TimeUnit.MILLISECONDS) ? "granted" : "refused");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
