#!/usr/bin/env python3
"""./dev bench [NAME]...: measures poe beside its peers in one run. Prints tables of medians and ratios,
and writes build/bench/NAME.json. What follows collectives, model or one of cluster-... is for it."""

import sys

import cluster_bench
import coll_bench
import comm_bench
import launch_bench
import marker_bench
import model_bench
import packages_bench
import progress_bench
import stdio_bench
import trace_bench

BENCHES = {"collectives": coll_bench.run, "comm": comm_bench.run, "launch": launch_bench.run,
           "cluster-launch": cluster_bench.run_launch, "cluster-slurm": cluster_bench.run_slurm,
           "cluster-stdio": cluster_bench.run_stdio, "model": model_bench.run, "markers": marker_bench.run,
           "packages": packages_bench.run, "progress": progress_bench.run,
           "stdio": stdio_bench.run, "trace": trace_bench.run}


def main():
    names = sys.argv[1:] or list(BENCHES)
    if names[0] in ("collectives", "cluster-launch", "cluster-slurm", "cluster-stdio", "model"):
        BENCHES[names[0]](*names[1:])
        return
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"bench: no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHES)}")
    for name in names:
        BENCHES[name]()


if __name__ == "__main__":
    main()
