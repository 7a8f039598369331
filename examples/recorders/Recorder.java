// Recorder.java: writes what threads ask of a lock, for `picklock judge`.
import java.io.*;
import java.nio.charset.StandardCharsets;

public final class Recorder {
    // A clock that is never set back, on the machine's date; a process of the system is a host of its own.
    private final long ahead = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
    private final String host;
    private final Writer file;

    /** The host's name is plain: without quotes and backslashes. */
    public Recorder(String path, String host) throws IOException {
        this.host = host + "-" + ProcessHandle.current().pid();
        this.file = new OutputStreamWriter(new FileOutputStream(path, true), StandardCharsets.UTF_8);
    }

    /** Synchronized, and the clock is read inside, so that the lines are in its order. */
    public synchronized void note(String type, String f, String key) throws IOException {
        Thread thread = Thread.currentThread();
        file.write(String.format(
            "{\"time_ns\":%d,\"host\":\"%s\",\"process\":\"%s-%d\",\"type\":\"%s\",\"f\":\"%s\",\"key\":\"%s\"}%n",
            System.nanoTime() + ahead, host, thread.getName(), thread.getId(), type, f, key));
        file.flush();
    }
}
