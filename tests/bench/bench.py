#!/usr/bin/env python3
"""./dev bench [NAME]... [--record]: measures poe beside its peers in one run. Prints tables of medians and ratios,
and writes build/bench/NAME.json. What follows ccmpi, collectives, model, mpi or one of cluster-... is for it.

--record also replaces the section of that name in tests/bench/RESULTS.md. It takes whole benchmarks only, because
a recorded table replaces all rows of its section."""

import sys

import ccmpi_bench
import cluster_bench
import coll_bench
import comm_bench
import debugger_bench
import launch_bench
import marker_bench
import model_bench
import mpi_bench
import mpich_bench
import observe_bench
import packages_bench
import progress_bench
import results
import stdio_bench
import trace_bench
from measuring import SHORT, machine

BENCHES = {"ccmpi": ccmpi_bench.run, "collectives": coll_bench.run, "comm": comm_bench.run, "debugger": debugger_bench.run,
           "launch": launch_bench.run, "cluster-launch": cluster_bench.run_launch, "cluster-slurm": cluster_bench.run_slurm,
           "cluster-stdio": cluster_bench.run_stdio, "model": model_bench.run, "markers": marker_bench.run,
           "mpi": mpi_bench.run, "mpich": mpich_bench.run, "observe": observe_bench.run, "packages": packages_bench.run,
           "progress": progress_bench.run, "stdio": stdio_bench.run, "trace": trace_bench.run}
# These take words of their own.
WITH_WORDS = ("ccmpi", "collectives", "cluster-launch", "cluster-slurm", "cluster-stdio", "model", "mpi", "mpich")
# These have no rows of RESULTS.md, because their figures have no peer.
NOT_RECORDED = ("markers", "model", "trace")
# Sections of their own.
KINDS = {"collectives": ("apart", "hosts", "irregular"), "mpich": ("hosts",)}


def jobs(words):
    """What is to be run: (name, words for it)."""
    if words[:1] and words[0] in WITH_WORDS:
        return expanded([(words[0], words[1:])])
    unknown = [name for name in words if name not in BENCHES]
    if unknown:
        sys.exit(f"bench: no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHES)}")
    return expanded([(name, []) for name in words or BENCHES])


def expanded(chosen):
    """The same, with each section of mpi on its own, because each has a table of its own."""
    return [(name, part) for name, its in chosen for part in (mpi_bench.sections(its) if name == "mpi" else [its])]


def check_recorded(chosen):
    """Before anything is measured: whether the figures of these can be recorded."""
    for name, words in chosen:
        if name in NOT_RECORDED:
            sys.exit(f"bench: --record: {name} has no rows with a peer; its section is written by hand")
        if words and name != "mpi" and not (len(words) == 1 and words[0] in KINDS.get(name, ())):
            sys.exit(f"bench: --record takes whole benchmarks only, not {name} {' '.join(words)}")
    if SHORT:
        sys.exit("bench: --record: the figures of short runs (POE_BENCH_SHORT) mean little")


def main():
    words = [word for word in sys.argv[1:] if word != "--record"]
    record = len(words) < len(sys.argv) - 1
    chosen = jobs(words)
    if record:
        if not words:
            chosen = [(name, its) for name, its in chosen if name not in NOT_RECORDED]
        check_recorded(chosen)
    for name, its in chosen:
        rows = BENCHES[name](*its)
        if record:
            topic = " ".join((name, *its))
            results.write_table(topic, results.header(machine(), f"./dev bench {topic}"), rows, results.RESULTS)


if __name__ == "__main__":
    main()
