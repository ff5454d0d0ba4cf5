#!/usr/bin/env python3
"""Runs the testers with random plans for many seeds, and reports the first seed that fails.

    soak.py [AREA|all] [SEEDS] [--build FOLDER] [--from SEED]

A batch of seeds runs in one job. The seed decides the shape of the job (number of tasks, devices, limits of
messages), so that a seed can be repeated. If a batch fails, its seeds are run one by one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 10
SECONDS = 600  # of a batch; a sanitizer is slow

# Arguments of mpl_run: shared memory, finite buffer memory, announced messages that are fetched or streamed,
# TCP between two nodes and between all tasks.
SHAPES = ["-n 4", "-N 2 -n 4", "-n 7", "-n 4 -e 100", "-i -n 3", "-n 2", "-n 4 -b 16384", "-N 3 -n 8",
          "-n 4 -e 100 -s", "-N 2 -n 2", "-n 8", "-n 1"]


class Tester:
    """A program that takes the first seed and the number of seeds as arguments."""

    def __init__(self, program, *arguments, checked=False):
        self.program, self.arguments = program, arguments
        self.environment = ["env", "MP_MPICHECK=yes"] if checked else []

    def command(self, build, first, seeds):
        shape = SHAPES[first // BATCH % len(SHAPES)].split()
        run = [*self.environment, f"{build}/bin/mpl_run", "-t", str(SECONDS), *shape]
        return [*run, f"{build}/bin/{self.program}", str(first), str(seeds), *self.arguments]


class UnitTester:
    """A test case of a unit test that takes them from the environment."""

    def __init__(self, program, case, prefix):
        self.program, self.case, self.prefix = program, case, prefix

    def command(self, build, first, seeds):
        return ["env", f"{self.prefix}_SEED={first}", f"{self.prefix}_SEEDS={seeds}",
                f"{build}/bin/{self.program}", self.case]


AREAS = {
    "point": Tester("mpi_random_point"),
    "datatype": UnitTester("unit_mpi_datatype", "[random]", "POE_DATATYPE"),
    "collective": Tester("mpi_random_collective"),
    "file": Tester("mpi_random_file"),
    "window": Tester("mpi_random_window"),
    "window-lock": UnitTester("unit_mpi", "[windowlock]", "POE_WINDOW_LOCK"),
    # Check mode finds no error in them; with its error handler it would end the job.
    "point-checked": Tester("mpi_random_point", checked=True),
    "collective-checked": Tester("mpi_random_collective", checked=True),
}


def fails(command):
    """The output of a command that fails or does not end; None if it succeeds."""
    options = f"suppressions={ROOT}/tests/lsan.supp:print_suppressions=0"
    environment = {**os.environ, "LSAN_OPTIONS": os.environ.get("LSAN_OPTIONS", options)}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=SECONDS + 60, env=environment, check=False)
    except subprocess.TimeoutExpired as late:
        return f"no end after {late.timeout} s"
    return None if done.returncode == 0 else done.stdout


def first_failure(tester, build, first, seeds):
    """The command and the output of the first seed that fails in a batch; None if none does."""
    batch = tester.command(build, first, seeds)
    output = fails(batch)
    if output is None:
        return None
    for seed in range(first, first + seeds):
        # The shape is that of the batch.
        alone = tester.command(build, seed, 1)
        its_output = fails(alone)
        if its_output is not None:
            return alone, its_output
    return batch, output


def soak(name, tester, build, first, seeds, workers):
    """Runs all seeds. Returns true if none fails, otherwise reports the first one."""
    starts = range(first, first + seeds, BATCH)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        batches = [pool.submit(first_failure, tester, build, start, min(BATCH, first + seeds - start))
                   for start in starts]
        for batch in batches:
            failure = batch.result()
            if failure is None:
                continue
            for other in batches:
                other.cancel()
            command, output = failure
            print(f"{output.rstrip()}\nsoak: {name} fails; to repeat it: {shlex.join(command)}", flush=True)
            return False
    print(f"soak: {name}: {seeds} seeds from {first} on, none failed", flush=True)
    return True


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("area", nargs="?", default="all", choices=[*AREAS, "all"])
    parser.add_argument("seeds", nargs="?", type=int, default=1000)
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="the folder of the build")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed; rounded to tens")
    given = parser.parse_args(words)
    first = given.first // BATCH * BATCH  # batches begin at tens, so that a seed has one shape
    names = AREAS if given.area == "all" else [given.area]
    good = [soak(name, AREAS[name], given.build, first, given.seeds, os.cpu_count() or 1) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
