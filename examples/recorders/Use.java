public final class Use {
    public static void main(String[] args) throws Exception {
        Recorder recorder = new Recorder(args[0], "web");
        recorder.note("invoke", "acquire", "stock");
        recorder.note("ok", "acquire", "stock");
        recorder.note("invoke", "release", "stock");
        recorder.note("ok", "release", "stock");
    }
}
