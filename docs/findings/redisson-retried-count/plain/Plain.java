import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The reply to a request is late, and Redisson sends the request again. Is it counted twice? */
class Plain {
    static volatile boolean holds;

    static void forward(Socket from, Socket to, boolean replies) {
        try (from; to) {
            var bytes = new byte[65536];
            for (int count; (count = from.getInputStream().read(bytes)) > 0; to.getOutputStream().write(bytes, 0, count)) {
                while (replies && holds) Thread.sleep(10);
            }
        } catch (Exception closed) {
            // the end of a connection
        }
    }

    /** The network of the first client: while `holds` is set, the replies to it are on the way. */
    static int network(int server) throws Exception {
        var listener = new ServerSocket(0);
        new Thread(() -> {
            try {
                while (true) {
                    Socket client = listener.accept(), target = new Socket("127.0.0.1", server);
                    new Thread(() -> forward(client, target, false)).start();
                    new Thread(() -> forward(target, client, true)).start();
                }
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }).start();
        return listener.getLocalPort();
    }

    static RedissonClient client(int port) {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    /** Makes a call whose reply is late by 3.5 s, longer than Redisson's time-out of 3 s. */
    static void late(String name, Runnable call) {
        holds = true;
        new Thread(() -> {
            try {
                Thread.sleep(3500);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
            holds = false;
        }).start();
        try {
            call.run();
            System.out.println(name);
        } catch (Exception error) {
            System.out.println(name + ": " + error.getClass().getSimpleName());
        }
        while (holds) Thread.onSpinWait();
    }

    public static void main(String[] args) throws Exception {
        RedissonClient first = client(network(Integer.parseInt(args[0]))), second = client(Integer.parseInt(args[0]));
        // The server learns the scripts.
        first.getSemaphore("warm-up 1").addPermits(1);
        first.getPermitExpirableSemaphore("warm-up 2").addPermits(1);
        first.getMultiLock("warm-up 3", List.of("value")).lock();

        var semaphore = first.getSemaphore("semaphore");
        semaphore.trySetPermits(0);
        late("first client: addPermits(1) of a semaphore without permits", () -> semaphore.addPermits(1));
        System.out.println("second client: tryAcquire(), tryAcquire(): " + second.getSemaphore("semaphore").tryAcquire() + ", " + second.getSemaphore("semaphore").tryAcquire());

        var permits = first.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(0);
        late("first client: addPermits(1) of a semaphore with permits that expire", () -> permits.addPermits(1));
        System.out.println("second client: availablePermits(): " + second.getPermitExpirableSemaphore("permits").availablePermits());

        var lock = first.getMultiLock("group", List.of("value"));
        late("first client: lock(20, SECONDS) of a value of a group", () -> lock.lock(20, TimeUnit.SECONDS));
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException error) {
            System.out.println("first client: unlock(): not locked");
        }
        System.out.println("second client: tryLock(5, SECONDS) after unlock(): " + second.getMultiLock("group", List.of("value")).tryLock(5, TimeUnit.SECONDS));
        System.exit(0);
    }
}
