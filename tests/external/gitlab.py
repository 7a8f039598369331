"""The jobs of deploy/gitlab, done here one after the other with few seeds: each shard in the directory of one checkout, then the merge.

    PICKLOCK=target/release/picklock python3 tests/external/gitlab.py WORK_DIRECTORY

What the merge prints must be what one process prints that makes all runs.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import yaml

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SEEDS = ("--seeds 2000", "--seeds 8 --scenario calm,pause")


def main():
    work = pathlib.Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    (work / "bin").mkdir(parents=True)
    shutil.copy(os.environ["PICKLOCK"], work / "bin/picklock")
    shutil.copy(TOP / "examples/adapters/plain.py", work / "lock.py")
    pipeline = yaml.safe_load((TOP / "deploy/gitlab/lock.gitlab-ci.yml").read_text())
    run = pipeline["variables"]["PICKLOCK_RUN"].replace(*SEEDS).replace("python3", sys.executable)
    shards = pipeline["shard"]["parallel"]

    def job(name, **environment):
        known = {"PATH": os.environ["PATH"], "HOME": str(work), "CI_COMMIT_SHA": "5e34c5a", "PICKLOCK_RUN": run, **environment}
        script = "\n".join(["set -e", *pipeline[name]["script"]])
        done = subprocess.run(["bash", "-c", script], cwd=work, env=known, text=True, capture_output=True)
        print(f"{name} {environment.get('CI_NODE_INDEX', '')}: exit {done.returncode}")
        return done

    for index in range(1, shards + 1):
        made = job("shard", CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(shards))
        assert made.returncode == 0, made.stderr
        assert list(work.glob(f"part-{index}/*-shard/journal.jsonl")), "the artifact of the shard is not there"
    # An artifact holds the folder of the run, and not what leads to it.
    for part in work.glob("part-*"):
        for entry in part.iterdir():
            if not entry.name.endswith("-shard"):
                entry.unlink()
    merged = job("merge")
    junit = list(work.glob("results/*-merge/junit.xml"))
    assert len(junit) == 1, "the report for GitLab is not there"
    whole = subprocess.run(
        ["bash", "-c", f"eval \"bin/picklock run {run} --seeds-from 5e34c5a\""], cwd=work, text=True, capture_output=True
    )
    assert (merged.returncode, merged.stdout) == (whole.returncode, whole.stdout), merged.stdout + whole.stdout + merged.stderr


main()
