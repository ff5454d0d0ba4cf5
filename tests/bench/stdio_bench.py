"""Standard output: 4 tasks write 250 MB each of 80-byte lines into a pipe that is read at once."""

import os
import subprocess
import threading
import time

from measuring import HYDRA, OPEN_MPI, compile_program, environment, hydra, open_mpi, poe, ratio, rounds, save, table, text

TASKS = 4
BYTES = 250_000_000


def tree_memory(pid, peaks):
    """Peak resident KB of pid and its pmd."""
    def children(parent):
        try:
            return [int(c) for c in open(f"/proc/{parent}/task/{parent}/children").read().split()]
        except OSError:
            return []
    for one in [pid, *children(pid)]:
        try:
            status = open(f"/proc/{one}/status").read()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        name, peak = fields["Name"].strip(), int(fields.get("VmHWM", "0 kB").split()[0])
        peaks[name] = max(peaks.get(name, 0), peak)


def rate(command, expected, check, counts, tasks=TASKS):
    """MB/s of task output through a pipe into the checker, which counts torn lines."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment())
    reader = subprocess.Popen(check, stdin=process.stdout, stdout=subprocess.PIPE)
    process.stdout.close()
    peaks = {}
    stop = threading.Event()

    def watch():
        while not stop.wait(0.1):
            tree_memory(process.pid, peaks)
    watcher = threading.Thread(target=watch)
    watcher.start()
    output = reader.communicate()[0]
    process.wait()
    took = time.perf_counter() - begin
    stop.set()
    watcher.join()
    torn = int(output.split()[0]) if output.split() else 0
    key = " ".join(os.path.basename(c) for c in command[:1])
    counts.setdefault(key, []).append({"torn": torn, "peaks": peaks})
    return tasks * expected / took / 1e6


def run():
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench stdio: needs mpich and openmpi-bin (./dev bench installs them)")
    writer = compile_program("write_lines.c", "write_lines")
    checker = compile_program("check_lines.c", "check_lines")
    counts = {}

    def measured(command, total, prefix):
        return lambda: rate(command, total, [checker, prefix], counts.setdefault(prefix, {}))
    full = str(BYTES)
    less = str(BYTES // 5)
    results = rounds({
        "pipe": measured(["sh", "-c", f"for i in 1 2 3 4; do {writer} {full} & done; wait"], BYTES, "read"),
        "poe": measured(poe(TASKS, writer, full), BYTES, "read"),
        "hydra": measured(hydra(TASKS, writer, full), BYTES, "read"),
        "mpirun": measured(open_mpi(TASKS, writer, less), BYTES // 5, "read"),
        "poe labelled": measured([*poe(TASKS, writer, full), "-labelio", "yes"], BYTES, "read"),
        "hydra labelled": measured([HYDRA, "-prepend-rank", "-n", str(TASKS), writer, full], BYTES, "read"),
        "mpirun labelled": measured([OPEN_MPI, "--oversubscribe", "--tag-output", "-n", str(TASKS), writer, less],
                                    BYTES // 5, "read"),
    }, 5)
    # Line integrity costs the reader time, so it is looked at in runs that are not timed.
    integrity = {}
    for name, command in {"poe": poe(TASKS, writer, less), "hydra": hydra(TASKS, writer, less),
                          "mpirun": open_mpi(TASKS, writer, less),
                          "poe labelled": [*poe(TASKS, writer, less), "-labelio", "yes"],
                          "hydra labelled": [HYDRA, "-prepend-rank", "-n", str(TASKS), writer, less]}.items():
        found = {}
        rate(command, BYTES // 5, [checker, "check"], found)
        integrity[name] = next(iter(found.values()))[0]["torn"]
    memory = {}
    for run_counts in counts.get("read", {}).get("poe", []):
        for name, peak in run_counts["peaks"].items():
            memory[name] = max(memory.get(name, 0), peak)
    plain = results["poe"]["median"] / max(results["hydra"]["median"], results["mpirun"]["median"])
    labelled = results["poe labelled"]["median"] / max(results["hydra labelled"]["median"],
                                                       results["mpirun labelled"]["median"])
    table("4 tasks x 250 MB of 80-byte lines, MB/s", ["", "MB/s", "torn lines of 2.5 M"],
          [[name, text(results[name]["median"], 1, 0), integrity.get(name, "-")] for name in results])
    table("ratios to the faster peer", ["", "poe/best", "target"],
          [["plain", text(plain), ">= 1.0"], ["labelled", text(labelled), ">= 2.0"]])
    table("peak memory, MB (target 64)", ["process", "MB"],
          [[name, text(peak, 1 / 1024, 1)] for name, peak in memory.items()])
    save("stdio", {"rates": results, "torn": integrity, "memory_kb": memory,
                   "ratio_plain": plain, "ratio_labelled": labelled})
