// The locks of Redisson, asked by picklock; the first argument says which: lock, fair, spin, fenced, read, write, multi, red.
//   picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lib/*:target/adapters/java/adapters.jar RedissonLocks lock'
// Further arguments: `lease` asks for a lease and has no watchdog, `twice` takes and gives back a lock twice before each acquire,
// `threads` has a thread for each acquire and its release, `batch` renews in the batches of lockWatchdogBatchSize=1,
// `now` gives no time to wait, `seconds` asks for a lease in seconds, `first` asks for ten leases the first time and for none later,
// `downgrade` asks for the write lock and holds the read lock in its place, `interrupt` has a thread ask before each further
// acquire, and interrupts it meanwhile.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

class RedissonLocks {
    static final long TTL = Long.parseLong(System.getenv("PICKLOCK_TTL_MS"));
    static final Map<String, Lock> held = new HashMap<>();
    static final Map<String, Lock> known = new HashMap<>();
    static final Map<String, ExecutorService> callers = new HashMap<>();
    static final List<RedissonClient> clients = new ArrayList<>();
    static List<String> words;

    static RedissonClient client(String address) throws Exception {
        var config = new Config();
        config.setLockWatchdogTimeout(TTL).setCodec(StringCodec.INSTANCE);
        if (words.contains("batch")) Config.class.getMethod("setLockWatchdogBatchSize", int.class).invoke(config, 1);
        var sentinels = System.getenv("PICKLOCK_SENTINELS");
        var cluster = System.getenv("PICKLOCK_CLUSTER");
        if (cluster != null) {
            var servers = config.useClusterServers().setMasterConnectionMinimumIdleSize(1).setMasterConnectionPoolSize(4)
                .setSlaveConnectionMinimumIdleSize(1).setSlaveConnectionPoolSize(4).setRetryAttempts(1).setTimeout(1000);
            for (var node : cluster.split(",")) servers.addNodeAddress("redis://" + node);
        } else if (sentinels == null) {
            config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4)
                .setRetryAttempts(1).setTimeout(1000);
        } else {
            var servers = config.useSentinelServers().setMasterName(System.getenv("PICKLOCK_PRIMARY"));
            servers.setMasterConnectionMinimumIdleSize(1).setMasterConnectionPoolSize(4)
                .setSlaveConnectionMinimumIdleSize(1).setSlaveConnectionPoolSize(4).setRetryAttempts(1).setTimeout(1000);
            for (var sentinel : sentinels.split(",")) servers.addSentinelAddress("redis://" + sentinel);
        }
        return Redisson.create(config);
    }

    /** All stores or none: a lock on some of them would be another one. */
    static void open() throws Exception {
        try {
            for (var address : System.getenv("PICKLOCK_STORES").split(",")) {
                clients.add(client(address));
                if (System.getenv("PICKLOCK_SENTINELS") != null || System.getenv("PICKLOCK_CLUSTER") != null) break;
            }
        } catch (Exception unreachable) {
            close();
            throw unreachable;
        }
    }

    static void close() {
        for (var client : clients) client.shutdown();
        clients.clear();
    }

    static RLock of(String kind, RedissonClient client, String key) throws Exception {
        switch (kind) {
            case "fair": return client.getFairLock(key);
            case "read": return client.getReadWriteLock(key).readLock();
            case "write": return client.getReadWriteLock(key).writeLock();
            case "spin": return (RLock) client.getClass().getMethod("getSpinLock", String.class).invoke(client, key);
            case "fenced": return (RLock) client.getClass().getMethod("getFencedLock", String.class).invoke(client, key);
            default: return client.getLock(key);
        }
    }

    static Lock lock(String kind, String key) throws Exception {
        RLock[] all = new RLock[clients.size()];
        for (int at = 0; at < all.length; at++) all[at] = of(kind, clients.get(at), key);
        if (kind.equals("red")) return (Lock) (Object) new RedissonRedLock(all);
        return kind.equals("multi") ? (Lock) (Object) new RedissonMultiLock(all) : all[0];
    }

    static String answer(String verb, String key, String wait) throws Exception {
        var kind = words.get(0);
        if (verb.equals("acquire")) {
            if (clients.isEmpty()) open();
            var first = !known.containsKey(key);
            var lock = words.contains("first") && !first ? known.get(key) : lock(kind, key);
            known.put(key, lock);
            if (words.contains("twice")) on(false, () -> { lock.lock(); lock.lock(); lock.unlock(); lock.unlock(); return null; });
            if (!first && words.contains("interrupt")) on(true, () -> { ask(lock); return null; });
            long time = words.contains("now") ? -1 : Long.parseLong(wait);
            long lease = first && words.contains("first") ? 10 * TTL : words.contains("lease") ? TTL : -1;
            if (kind.equals("fenced")) {
                var token = call(lock, "tryLockAndGetToken", time, lease);
                if (token == null) return "refused";
                held.put(key, lock);
                return "granted token=" + token;
            }
            if (words.contains("seconds")) ((RLock) (Object) lock).lock(TTL / 1000, TimeUnit.SECONDS);
            else if (!(Boolean) call(lock, "tryLock", time, lease)) return "refused";
            held.put(key, lock);
            if (words.contains("downgrade")) {
                held.put(key, lock("read", key));
                held.get(key).lock();
                lock.unlock();
            }
            return "granted";
        }
        if (verb.equals("release")) {
            held.remove(key).unlock();
            return "released";
        }
        if (verb.equals("close")) {
            close();
            known.clear();
            return "closed";
        }
        return "error not understood: " + verb;
    }

    /** Asks once, and gives back what it was granted. */
    static void ask(Lock lock) {
        try {
            if (lock.tryLock()) lock.unlock();
        } catch (RuntimeException interrupted) {
            System.err.println(interrupted);
        }
    }

    /** A method that asks for a time to wait and a lease: versions differ in where they declare it. */
    static Object call(Lock lock, String name, long wait, long lease) throws Exception {
        var method = lock.getClass().getMethod(name, long.class, long.class, TimeUnit.class);
        method.setAccessible(true);
        return method.invoke(lock, wait, lease, TimeUnit.MILLISECONDS);
    }

    /** The answer of a call on a thread of its own, which may be interrupted after a millisecond. */
    static <T> T on(boolean interrupt, Callable<T> call) throws Exception {
        var task = new FutureTask<T>(call);
        var thread = new Thread(task);
        thread.start();
        if (interrupt) {
            Thread.sleep(1);
            thread.interrupt();
        }
        return task.get();
    }

    public static void main(String[] arguments) throws Exception {
        words = Arrays.asList(arguments);
        open();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            var parts = (line + " 0 0").split(" ");
            try {
                Callable<String> call = () -> answer(parts[0], parts[1], parts[2]);
                if (parts[0].equals("acquire")) callers.put(parts[1], Executors.newSingleThreadExecutor());
                System.out.println(words.contains("threads") ? callers.get(parts[1]).submit(call).get() : call.call());
            } catch (Exception error) {
                System.out.println("error " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.exit(0);
    }
}
