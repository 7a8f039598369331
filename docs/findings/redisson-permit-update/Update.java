// Redisson's semaphore with permits that expire. The client shortens the lease of its permit. With `once` it acquires the permit with this lease.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

class Update {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));

    public static void main(String[] words) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress(System.getenv("PICKLOCK_STORES")).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4);
        var client = Redisson.create(config);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        String permit = null;
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = line.split(" ");
            try {
                var semaphore = client.getPermitExpirableSemaphore(parts[1]);
                semaphore.trySetPermits(1);
                if (parts[0].equals("release")) {
                    semaphore.release(permit);
                    System.out.println("released");
                    continue;
                }
                permit = semaphore.tryAcquire(Long.parseLong(parts[2]), words.length == 0 ? 20 * TTL : TTL, TimeUnit.MILLISECONDS);
                if (permit != null && words.length == 0) {
                    Thread.sleep(TTL / 4);
                    semaphore.updateLeaseTime(permit, TTL, TimeUnit.MILLISECONDS);
                }
                System.out.println(permit == null ? "refused" : "granted");
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
