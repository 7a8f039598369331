#!/usr/bin/env bash
# A campaign as an array of Slurm jobs, one for each shard, and a job behind them that merges.
#
#   deploy/slurm/array.sh DIR run --seeds 100000
#
# makes DIR/part-1 ... DIR/part-8 and DIR/results, whose index.html leads to the reports. The directory must be one that all nodes share. A
# job that is queued again, after its node has failed, goes on where it was.
#
# SHARDS (8) is how many there are, PICKLOCK (picklock) the program, SBATCH (nothing) holds options for every job, such as a partition.
set -euo pipefail

if [ $# -lt 2 ] || [ "$2" != run ]; then
    printf 'usage: %s DIR run [options of picklock run]\n' "$0" >&2
    exit 2
fi
mkdir -p "$1"
directory=$(cd "$1" && pwd)
shift
shards=${SHARDS:-8}
picklock=${PICKLOCK:-picklock}
read -ra options <<<"${SBATCH:-}"

asked=$(printf ' %q' "$@")
shard=$(printf '%q%s --shard auto --out %q/part-$SLURM_ARRAY_TASK_ID' "$picklock" "$asked" "$directory")
# Slurm starts a job again after its node has failed; what was begun is then gone on with.
shard="[ -e $(printf '%q' "$directory")/part-\$SLURM_ARRAY_TASK_ID/journal.jsonl ] && resume=--resume; $shard \${resume:-}"
array=$(sbatch --parsable "${options[@]}" --array "1-$shards" --requeue --open-mode append \
    --output "$directory/part-%a.log" --wrap "$shard")

parts=$(seq -f "part-%.0f" "$shards" | tr '\n' ' ')
merged=$(printf 'cd %q && %q merge %s--out results --format text,json,junit' "$directory" "$picklock" "$parts")
sbatch --parsable "${options[@]}" --dependency "afterok:${array%%;*}" --output "$directory/merge.log" --wrap "$merged" >/dev/null
printf 'array %s of %s shards; the results will be in %s/results\n' "$array" "$shards" "$directory"
