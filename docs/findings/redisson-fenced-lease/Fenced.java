// Redisson's fenced lock, acquired with a lease. With `try` the method has a time to wait as well.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Fenced {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var lock = client.getFencedLock(parts[1]);
                if (parts[0].equals("release")) {
                    lock.unlock();
                    System.out.println("released");
                    continue;
                }
                var token = words.length == 0
                    ? lock.lockAndGetToken(TTL, TimeUnit.MILLISECONDS)
                    : lock.tryLockAndGetToken(Long.parseLong(parts[2]), TTL, TimeUnit.MILLISECONDS);
                System.out.println(token == null ? "refused" : "granted token=" + token);
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
