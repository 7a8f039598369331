mod recorder;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).expect("the file to write");
    let recorder = recorder::Recorder::new(&path, "web")?;
    recorder.note("invoke", "acquire", "stock")?;
    recorder.note("ok", "acquire", "stock")?;
    recorder.note("invoke", "release", "stock")?;
    recorder.note("ok", "release", "stock")
}
