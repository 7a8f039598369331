"""Does the pods of deploy/kubernetes/job.yaml here, as PICKLOCK, with fewer seeds and a directory as the volume. One of them dies in its
midst and is started again. What is merged is compared with what one process writes.
"""
import filecmp
import os
import pathlib
import signal
import subprocess
import sys
import time

import yaml

top = pathlib.Path(__file__).resolve().parents[2]
work = pathlib.Path(sys.argv[1])
volume = work / "volume"
volume.mkdir(parents=True)
tools = work / "bin"
tools.mkdir()
(tools / "picklock").symlink_to(os.environ["PICKLOCK"])
FEWER = "--design single,watchdog --scenario calm,pause --seeds 10000"
DIES = 3


def container(manifest):
    spec = manifest["spec"]
    spec = spec["jobTemplate"]["spec"] if manifest["kind"] == "CronJob" else spec
    return spec["template"]["spec"]["containers"][0]


def start(manifest, index=None):
    """The pod's process, as the leader of its group."""
    given = container(manifest)
    script = given["args"][0].replace("/results", str(volume)).replace("--seeds 100000", FEWER)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
    environment |= {variable["name"]: variable["value"] for variable in given.get("env", [])}
    if index is not None:
        environment["JOB_COMPLETION_INDEX"] = str(index)
    return subprocess.Popen([*given["command"], script], cwd=work, env=environment, start_new_session=True, stdout=subprocess.DEVNULL)


def die_in_the_midst(pod, journal):
    deadline = time.monotonic() + 60
    while not (journal.exists() and len(journal.read_bytes().splitlines()) > 1):
        assert pod.poll() is None and time.monotonic() < deadline, "it was not to be caught in its midst"
        time.sleep(0.002)
    os.killpg(pod.pid, signal.SIGKILL)
    pod.wait()


manifests = [whole for whole in yaml.safe_load_all((top / "deploy/kubernetes/job.yaml").read_text()) if whole["kind"] in ("Job", "CronJob")]
shards, merge = manifests
for index in range(shards["spec"]["completions"]):
    if index == DIES:
        die_in_the_midst(start(shards, index), volume / f"part-{index}/journal.jsonl")
        print("pod", index, "was killed")
    assert start(shards, index).wait() == 0, index
    print("pod", index, "is complete")
assert start(merge).wait() == 0
alone = work / "alone"
subprocess.run(["picklock", "run", *FEWER.split(), "--out", alone, "--format", "text,json,junit"], check=True, executable=tools / "picklock", stdout=subprocess.DEVNULL)
for file in ["results.txt", "results.json", "junit.xml"]:
    assert filecmp.cmp(volume / "merged" / file, alone / file, shallow=False), file
    print(file, "is that of one process")
