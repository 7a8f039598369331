"""Gives rslock's own tests servers that run already, instead of containers: rslock.py DIRECTORY PORT..."""

import pathlib
import re
import sys

crate, ports = pathlib.Path(sys.argv[1]), sys.argv[2:]
addresses = ", ".join(f'"redis://127.0.0.1:{port}".to_string()' for port in ports)

# A container is empty when it starts.
EMPTIED = """        for address in &addresses {
            let client = redis::Client::open(address.as_str()).expect("an address");
            let mut connection = client.get_multiplexed_async_connection().await.expect("a server");
            redis::cmd("FLUSHALL").exec_async(&mut connection).await.expect("an empty server");
        }

"""


def change(file, *changes):
    text = (crate / file).read_text()
    for pattern, replacement in changes:
        text, found = re.subn(pattern, replacement, text, count=1, flags=re.S)
        if not found:
            sys.exit(f"{file} of rslock has no `{pattern}` any more: this script is for 0.10")
    (crate / file).write_text(text)


change(
    "src/lock.rs",
    (r"use testcontainers::\{.*?\n    \};\n", ""),
    (r"type Containers = [^\n]*;", "type Containers = ();"),
    (r"let mut containers = Vec::new\(\);.*?(?=// Ensure all Redis)", f"let addresses = vec![{addresses}];\n{EMPTIED}        "),
    (r"\(containers, addresses\)\n", "((), addresses)\n"),
)
change("Cargo.toml", (r"\[dev-dependencies\.testcontainers\]\nversion = [^\n]*\n", ""), (r"\Z", "\n[workspace]\n"))
(crate / "Cargo.lock").unlink(missing_ok=True)
