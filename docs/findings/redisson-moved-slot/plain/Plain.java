import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/** The slot of a lock moves to another node while a client waits for the lock. Does this client acquire a lock after its release? */
class Plain {
    // MOVED is in slot 0. SAME_SEMAPHORE is in a slot that does not move: its channel shares one of the 50 semaphores of PublishSubscribeService.
    static final String MOVED = "lock-16953", SAME_SEMAPHORE = "lock-2";
    static final long began = System.nanoTime();
    static RedissonClient holder, waiter;

    interface Wait { String in() throws Exception; }

    static void print(String line) {
        System.out.printf("%5.1f s  %s%n", (System.nanoTime() - began) / 1e9, line);
    }

    static RedissonClient client(String mode, String[] ports) {
        var config = new Config();
        var cluster = config.useClusterServers().setScanInterval(1000).setShardedSubscriptionMode(ShardedSubscriptionMode.valueOf(mode));
        for (var port : ports) cluster.addNodeAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    /** The holder has the lock, the waiter waits for it, an event happens, and the holder releases the lock after a number of seconds. */
    static void contend(String name, String call, Wait wait, Wait event, int seconds) throws Exception {
        holder.getLock(name).lock();
        var waiting = new Thread(() -> {
            try {
                print("waiter: " + call + " of " + name + ": " + wait.in());
            } catch (Exception error) {
                print("waiter: " + call + " of " + name + ": " + error);
            }
        });
        waiting.start();
        Thread.sleep(1000);
        print(event.in());
        Thread.sleep(seconds * 1000);
        holder.getLock(name).unlock();
        print("holder: has released " + name);
        waiting.join();
    }

    static String tryLock(String name, int seconds) throws Exception {
        var acquired = waiter.getLock(name).tryLock(seconds, TimeUnit.SECONDS);
        if (acquired) waiter.getLock(name).unlock();
        return "" + acquired;
    }

    public static void main(String[] args) throws Exception {
        holder = client(args[0], args[1].split(","));
        waiter = client(args[0], args[1].split(","));
        contend(MOVED, "tryLock(14, SECONDS)", () -> tryLock(MOVED, 14), () -> {
            var code = new ProcessBuilder(args[2].split(" ")).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
            return "redis-cli --cluster reshard has moved slot 0: " + (code == 0);
        }, 9);
        contend(MOVED, "tryLock(5, SECONDS)", () -> tryLock(MOVED, 5), () -> "the slot does not move", 1);
        contend(SAME_SEMAPHORE, "lock()", () -> {
            waiter.getLock(SAME_SEMAPHORE).lock();
            return "acquired";
        }, () -> "the slot does not move", 1);
        System.exit(0);
    }
}
