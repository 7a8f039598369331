import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A permit is released while the subscription of a waiting client reconnects. When does the client get the permit? */
class Plain {
    interface Wait {
        boolean call() throws InterruptedException;
    }

    /** Starts a thread that waits, ends the connections of all subscriptions, and makes a call that would wake the thread. */
    static void attempt(int port, String name, Wait wait, Runnable call) throws Exception {
        var waiter = new Thread(() -> {
            try {
                var begin = System.nanoTime();
                var done = wait.call();
                System.out.println("waiter: " + name + ": " + done + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
        });
        waiter.start();
        Thread.sleep(2000);
        new ProcessBuilder("redis-cli", "-p", "" + port, "client", "kill", "type", "pubsub").start().waitFor();
        call.run();
        waiter.join();
    }

    static RedissonClient client(int port) {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    public static void main(String[] args) throws Exception {
        var port = Integer.parseInt(args[0]);
        RedissonClient holder = client(port), other = client(port);
        var semaphore = holder.getSemaphore("semaphore");
        semaphore.trySetPermits(1);
        semaphore.acquire();
        semaphore.release();
        semaphore.acquire();
        attempt(port, "RSemaphore.tryAcquire(15 s)", () -> other.getSemaphore("semaphore").tryAcquire(1, java.time.Duration.ofSeconds(15)), semaphore::release);
        System.out.println("availablePermits(): " + semaphore.availablePermits());

        var permits = holder.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(1);
        permits.release(permits.acquire());
        var permit = permits.acquire();
        attempt(port, "RPermitExpirableSemaphore.tryAcquire(15 s)", () -> other.getPermitExpirableSemaphore("permits").tryAcquire(15, TimeUnit.SECONDS) != null, () -> permits.release(permit));
        System.out.println("availablePermits(): " + permits.availablePermits());
        System.exit(0);
    }
}
