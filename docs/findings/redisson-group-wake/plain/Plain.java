import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Two threads of a client wait for two values of a group, and the second value is released. When does its thread acquire it? */
class Plain {
    static Thread waiter(RedissonClient client, String value, long began) throws InterruptedException {
        var waiter = new Thread(() -> {
            try {
                var acquired = client.getMultiLock("group", List.of(value)).tryLock(12, TimeUnit.SECONDS);
                System.out.printf("thread that waits for %s: tryLock(12, SECONDS): %b after %.1f s%n", value, acquired, (System.nanoTime() - began) / 1e9);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
        });
        waiter.start();
        Thread.sleep(1000);
        return waiter;
    }

    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var waiting = Redisson.create(config);
        var began = System.nanoTime();
        holder.getMultiLock("group", List.of("a")).lock(20, TimeUnit.SECONDS);
        var b = holder.getMultiLock("group", List.of("b"));
        b.lock(20, TimeUnit.SECONDS);
        waiter(waiting, "a", began);
        var second = waiter(waiting, "b", began);
        System.out.printf("holder: releases b after %.1f s%n", (System.nanoTime() - began) / 1e9);
        b.unlock();
        second.join();
        System.exit(0);
    }
}
