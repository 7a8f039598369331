import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The request of unlock() arrives after the lease has ended and another client has acquired the lock. Does it release the lock of the other client? */
class Plain {
    static final long began = System.nanoTime();
    static volatile boolean holds;

    static void print(String line) {
        System.out.printf("%5.1f s  %s%n", (System.nanoTime() - began) / 1e9, line);
    }

    static void forward(Socket from, Socket to, boolean requests) {
        try (from; to) {
            var bytes = new byte[65536];
            for (int count; (count = from.getInputStream().read(bytes)) > 0; to.getOutputStream().write(bytes, 0, count)) {
                while (requests && holds) Thread.sleep(10);
            }
        } catch (Exception closed) {
            // the end of a connection
        }
    }

    /** The network of the first client: while `holds` is set, its requests are on the way. */
    static int network(int server) throws Exception {
        var listener = new ServerSocket(0);
        new Thread(() -> {
            try {
                while (true) {
                    Socket client = listener.accept(), target = new Socket("127.0.0.1", server);
                    new Thread(() -> forward(client, target, true)).start();
                    new Thread(() -> forward(target, client, false)).start();
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

    public static void main(String[] args) throws Exception {
        var server = Integer.parseInt(args[0]);
        RedissonClient first = client(network(server)), second = client(server), third = client(server);
        // Another value of the group is held throughout, so that the key of the group does not expire.
        third.getMultiLock("group", List.of("another value")).lock();

        var lock = first.getMultiLock("group", List.of("value"));
        lock.lock(2, TimeUnit.SECONDS);
        print("first client: lock(2, SECONDS)");
        Thread.sleep(1000);
        holds = true;
        var next = new Thread(() -> {
            try {
                var acquired = second.getMultiLock("group", List.of("value")).tryLock(5, 20, TimeUnit.SECONDS);
                print("second client: tryLock(5, 20, SECONDS): " + acquired);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
            holds = false;
        });
        next.start();
        print("first client: calls unlock(), whose request is late");
        try {
            lock.unlock();
            print("first client: unlock() has returned");
        } catch (IllegalMonitorStateException error) {
            print("first client: unlock(): " + error);
        }
        next.join();
        var acquired = third.getMultiLock("group", List.of("value")).tryLock(1, 20, TimeUnit.SECONDS);
        print("third client: tryLock(1, 20, SECONDS): " + acquired + ", while the second client holds the lock");
        System.exit(0);
    }
}
