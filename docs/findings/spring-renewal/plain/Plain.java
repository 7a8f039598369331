import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** The server refuses the request of unlock(), and unlock() throws. Does the lock expire after its lease of 2 s? */
class Plain {
    static LettuceConnectionFactory factory(int port) {
        var factory = new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    public static void main(String[] args) throws Exception {
        var factory = factory(Integer.parseInt(args[0]));
        var scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        var holder = new RedisLockRegistry(factory, "locks", Duration.ofSeconds(2));
        holder.setRenewalTaskScheduler(scheduler);
        var other = new RedisLockRegistry(factory(Integer.parseInt(args[0])), "locks", Duration.ofSeconds(2));

        var lock = holder.obtain("lock");
        lock.lock();
        System.out.println("holder: lock(), with a lease of 2 s");
        var config = factory.getConnection().serverCommands();
        config.setConfig("min-replicas-to-write", "1");
        try {
            lock.unlock();
            System.out.println("holder: unlock()");
        } catch (Exception error) {
            System.out.println("holder: unlock(): " + error.getClass().getName());
        }
        config.setConfig("min-replicas-to-write", "0");
        System.out.println("the server accepts writes again");
        var began = System.nanoTime();
        var acquired = other.obtain("lock").tryLock(10, TimeUnit.SECONDS);
        System.out.printf("another client: tryLock(10, SECONDS): %b after %.1f s%n", acquired, (System.nanoTime() - began) / 1e9);
        if (acquired) {
            other.obtain("lock").unlock();
        }

        lock = holder.obtain("reentrant");
        lock.lock();
        lock.lock();
        lock.unlock();
        lock.unlock();
        var tasks = scheduler.getScheduledThreadPoolExecutor().getQueue().stream().filter(task -> !((Future<?>) task).isCancelled()).count();
        System.out.println("holder: lock(), lock(), unlock(), unlock() of another lock, renewals that are scheduled: " + tasks);
        System.exit(0);
    }
}
