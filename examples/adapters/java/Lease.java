// A lease lock by hand on Java's standard library, asked by picklock: picklock run --program 'java -XX:-UsePerfData -cp target/adapters/java/lease.jar Lease'
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.HashMap;
import java.util.UUID;

class Lease {
    static final String RELEASE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    static final String RENEW =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";
    static final URI STORE = URI.create(System.getenv("PICKLOCK_STORES"));
    static final String TTL = System.getenv("PICKLOCK_TTL_MS");
    static final HashMap<String, String> held = new HashMap<>();

    /** One request on a connection of its own; its reply's first line. */
    static String call(String... words) throws IOException {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(STORE.getHost(), STORE.getPort()), 1000);
            socket.setSoTimeout(1000);
            var text = new StringBuilder("*" + words.length + "\r\n");
            for (var word : words) text.append("$" + word.length() + "\r\n" + word + "\r\n");
            socket.getOutputStream().write(text.toString().getBytes());
            return new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
        }
    }

    static String acquire(String key, long wait) throws IOException, InterruptedException {
        var owner = UUID.randomUUID().toString();
        var end = System.nanoTime() + wait * 1_000_000;
        while (!"+OK".equals(call("SET", key, owner, "NX", "PX", TTL))) {
            if (System.nanoTime() - end >= 0) return "refused";
            Thread.sleep(20);
        }
        held.put(key, owner);
        return "granted";
    }

    static String release(String key) throws IOException {
        var gone = call("EVAL", RELEASE, "1", key, held.remove(key));
        return ":1".equals(gone) ? "released" : "error it was not held any more";
    }

    static String renew(String key) throws IOException {
        return ":1".equals(call("EVAL", RENEW, "1", key, held.get(key), TTL)) ? "renewed" : "lost";
    }

    static String answer(String[] words) throws IOException, InterruptedException {
        return switch (words[0]) {
            case "acquire" -> acquire(words[1], Long.parseLong(words[2]));
            case "release" -> release(words[1]);
            case "renew" -> renew(words[1]);
            default -> "error not understood: " + words[0];
        };
    }

    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            try {
                System.out.println(answer(line.split(" ")));
            } catch (IOException error) {
                System.out.println("error " + error);
            }
        }
    }
}
