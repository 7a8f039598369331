import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** A client waits for a permit, and the holder of the permit shortens its lease to 1 s. When does the waiting client get the permit? */
class Plain {
    public static void main(String[] args) throws Exception {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        var holder = Redisson.create(config);
        var other = Redisson.create(config);
        for (var lease : new long[] {-1, 60}) {
            var semaphore = holder.getPermitExpirableSemaphore("semaphore " + lease);
            semaphore.trySetPermits(1);
            var permit = semaphore.acquire(lease, TimeUnit.SECONDS);
            System.out.println("holder: acquire(" + lease + ", SECONDS)");
            var waiter = new Thread(() -> {
                try {
                    var begin = System.nanoTime();
                    var got = other.getPermitExpirableSemaphore("semaphore " + lease).tryAcquire(10, TimeUnit.SECONDS);
                    System.out.println("waiter: tryAcquire(10, SECONDS): " + (got == null ? "null" : "a permit") + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
                } catch (InterruptedException error) {
                    throw new RuntimeException(error);
                }
            });
            waiter.start();
            Thread.sleep(1000);
            System.out.println("holder: updateLeaseTime(permit, 1, SECONDS): " + semaphore.updateLeaseTime(permit, 1, TimeUnit.SECONDS));
            waiter.join();
            System.out.println("availablePermits(): " + semaphore.availablePermits());
        }
        System.exit(0);
    }
}
