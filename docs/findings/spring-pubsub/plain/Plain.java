import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** The holder of a lock of type PUB_SUB_LOCK does not release it, and its lease of 2 s ends. When does a waiting client acquire the lock? */
class Plain {
    static RedisLockRegistry registry(int port) {
        var factory = new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
        factory.afterPropertiesSet();
        factory.start();
        var registry = new RedisLockRegistry(factory, "locks", Duration.ofSeconds(2));
        registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
        return registry;
    }

    public static void main(String[] args) throws Exception {
        RedisLockRegistry holder = registry(Integer.parseInt(args[0])), waiter = registry(Integer.parseInt(args[0]));
        holder.obtain("another lock").lock();
        System.out.println("waiter: tryLock(1, SECONDS) of another lock, for its subscription: " + waiter.obtain("another lock").tryLock(1, TimeUnit.SECONDS));
        holder.obtain("lock").lock();
        System.out.println("holder: lock(), with a lease of 2 s");
        var began = System.nanoTime();
        var acquired = waiter.obtain("lock").tryLock(10, TimeUnit.SECONDS);
        System.out.printf("waiter: tryLock(10, SECONDS): %b after %.1f s%n", acquired, (System.nanoTime() - began) / 1e9);
        System.exit(0);
    }
}
