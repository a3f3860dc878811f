#!/bin/sh
# cluster.sh [PROGRAM]: what examples/cluster says, done on this machine: mpirun, and Slurm with a controller and a node of its
# own. Where Slurm does not start, a loop stands in for its array, and that is said. The sum has the bytes of one process.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
passed=0 skipped=0
stop() {
    for pid in "$work"/slurmd.pid "$work"/slurmctld.pid "$work"/munge/pid; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || :
    done
    sleep 0.3
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM
bad() { echo "[  FAILED  ] $*"; echo "[  PASSED  ] $passed test(s)."; exit 1; }

mkdir "$work/bin"
ln -s "$(realpath "${1:-$root/build/default/trackway}")" "$work/bin/trackway"
PATH=$work/bin:/usr/sbin:$PATH
# The demo, a few hundred times.
CAPTURE=$work/capture
cp -r "$root/tests/captures/demo" "$CAPTURE"
for _ in 1 2 3 4 5 6 7 8; do
    cat "$CAPTURE/ETB_0.bin" "$CAPTURE/ETB_0.bin" >"$work/twice"
    mv "$work/twice" "$CAPTURE/ETB_0.bin"
done
export PATH CAPTURE OUT
trackway profile "$CAPTURE" --self --save "$work/whole.twr" -o "$work/whole.txt"

if command -v mpirun >/dev/null; then
    OUT=$work/mpi
    mkdir "$OUT"
    # The line of the README, on three processes.
    sed -n 's/^mpirun -n 64 /mpirun $options -n 3 /p' "$root/examples/cluster/README.md" >"$work/line"
    options='--oversubscribe'
    [ "$(id -u)" != 0 ] || options="$options --allow-run-as-root"
    . "$work/line" >"$work/log" 2>&1 || { cat "$work/log"; bad "mpirun"; }
    cmp "$OUT/all.twr" "$work/whole.twr" || bad "mpirun: not the bytes of one process"
    passed=$((passed + 1))
else
    echo "skipped: no mpirun (openmpi-bin)"
    skipped=$((skipped + 1))
fi

# A controller and a node, of this user; true once the node is idle.
start_slurm() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null || return 1
    host=$(hostname -s)
    mkdir -m 700 "$work/munge"
    mkdir "$work/state" "$work/spool"
    head -c 1024 /dev/urandom >"$work/munge/key"
    chmod 400 "$work/munge/key"
    munged --force --socket="$work/munge/socket" --key-file="$work/munge/key" --pid-file="$work/munge/pid" \
        --log-file="$work/munge/log" --seed-file="$work/munge/seed" || return 1
    cat >"$work/slurm.conf" <<TEXT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((40001 + $$ % 20000))
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
TEXT
    SLURM_CONF=$work/slurm.conf
    export SLURM_CONF
    slurmctld -c || return 1
    slurmd || return 1
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(sinfo -h -o %T 2>/dev/null)" != idle ] || return 0
        sleep 1
    done
    return 1
}

OUT=$work/slurm
mkdir "$OUT"
cd "$root/examples/cluster"
if start_slurm >"$work/log" 2>&1; then
    export PATH
    parts=$(sbatch --parsable --array=1-5 --output="$work/job-%a.log" part.sbatch)
    sbatch --parsable --wait --dependency=afterok:"$parts" --output="$work/merge.log" merge.sbatch >"$work/merge.job" ||
        { cat "$work"/job-*.log "$work/merge.log" 2>/dev/null; bad "the jobs"; }
else
    echo "skipped: Slurm does not start here; a loop stands in for its array"
    skipped=$((skipped + 1))
    for number in 1 2 3 4 5; do
        SLURM_ARRAY_TASK_ID=$number SLURM_ARRAY_TASK_COUNT=5 sh part.sbatch
    done
    sh merge.sbatch
fi
cmp "$OUT/all.twr" "$work/whole.twr" || bad "Slurm: not the bytes of one process"
[ -s "$OUT/all.txt" ] || bad "Slurm: no table"
passed=$((passed + 1))
echo "[  PASSED  ] $passed test(s)."
[ $skipped = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
