// The semaphores of Redisson with one permit, asked by picklock; the argument says which: `permit` (with a lease) or `semaphore`.
//   picklock run --program 'java -cp target/adapters/java/lib/*:target/adapters/java RedissonSemaphores permit'
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

class RedissonSemaphores {
    static final Map<String, String> permits = new HashMap<>();
    static RedissonClient client;

    static String permit(String verb, String key, long wait) throws InterruptedException {
        var semaphore = client.getPermitExpirableSemaphore(key);
        if (verb.equals("release")) {
            semaphore.release(permits.remove(key));
            return "released";
        }
        semaphore.trySetPermits(1);
        var permit = semaphore.tryAcquire(wait, RedissonLocks.TTL, TimeUnit.MILLISECONDS);
        if (permit == null) return "refused";
        permits.put(key, permit);
        return "granted";
    }

    static String semaphore(String verb, String key, long wait) throws InterruptedException {
        var semaphore = client.getSemaphore(key);
        if (verb.equals("release")) {
            semaphore.release();
            return "released";
        }
        semaphore.trySetPermits(1);
        return semaphore.tryAcquire(wait, TimeUnit.MILLISECONDS) ? "granted" : "refused";
    }

    public static void main(String[] arguments) throws Exception {
        RedissonLocks.words = Arrays.asList(arguments);
        client = RedissonLocks.client(System.getenv("PICKLOCK_STORES").split(",")[0]);
        var leased = arguments[0].equals("permit");
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0").split(" ");
            try {
                var wait = Long.parseLong(parts[2]);
                System.out.println(leased ? permit(parts[0], parts[1], wait) : semaphore(parts[0], parts[1], wait));
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
