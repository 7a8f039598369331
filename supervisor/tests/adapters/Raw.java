// A lock by hand: SET NX PX, and a script that releases.
import java.io.*;
import java.net.Socket;
import java.util.UUID;

class Raw {
    static OutputStream out;
    static BufferedReader in;

    static String call(String... words) throws IOException {
        var text = new StringBuilder("*" + words.length + "\r\n");
        for (var word : words) text.append("$" + word.length() + "\r\n" + word + "\r\n");
        out.write(text.toString().getBytes());
        return in.readLine();
    }

    public static void main(String[] arguments) throws Exception {
        var socket = new Socket("store", 6379);
        out = socket.getOutputStream();
        in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        var lines = new BufferedReader(new InputStreamReader(System.in));
        var release = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
        String token = "";
        for (String line; (line = lines.readLine()) != null; ) {
            var words = line.split(" ");
            if (words[0].equals("release")) {
                System.out.println("released " + call("EVAL", release, "1", words[1], token));
                continue;
            }
            var mine = UUID.randomUUID().toString();
            long end = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000;
            boolean granted;
            while (!(granted = call("SET", words[1], mine, "NX", "PX", "1000").equals("+OK")) && System.nanoTime() < end)
                Thread.sleep(50);
            if (granted) token = mine;
            System.out.println(granted ? "granted" : "refused");
        }
    }
}
