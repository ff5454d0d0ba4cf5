#!/usr/bin/env python3
"""farm: a task farm in plain Python, with lights: no message-passing library, no MPI, just programs
that poe has started, and the command mpmark.

Run:   pmarray                         in another terminal, or not at all
       poe ./farm.py -procs 4          or   poe ./farm.py 200 -procs 8  for 200 jobs

The jobs are numbers to be factored. Task t takes every job whose number modulo the tasks is t. Light
0 is blue while a job is worked on, green when it was quick and orange when it was slow; light 1 turns
purple when the number was a prime. Without poe it does all jobs itself, and the marks go nowhere."""

import os
import random
import shutil
import subprocess
import sys
import time

MPMARK = shutil.which("mpmark")
SLOW = 0.05  # seconds


def mark(*words):
    if MPMARK:
        subprocess.run([MPMARK, *map(str, words)], check=False)


def factors(number):
    found = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return found + [number] * (number > 1)


def main():
    try:
        jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
        assert jobs >= 0
    except (ValueError, AssertionError):
        sys.exit(f"farm: \"{sys.argv[1]}\" is not a number of jobs")
    task, tasks = int(os.environ.get("MP_CHILD", 0)), int(os.environ.get("MP_PROCS", 1))
    numbers = [random.Random(job).randrange(10**12, 10**14) for job in range(jobs)]
    mine = range(task, jobs, tasks)
    for done, job in enumerate(mine):
        mark("-progress", done, len(mine))
        mark(0, "blue", f"job {job}: {numbers[job]}")
        begin = time.monotonic()
        found = factors(numbers[job])
        took = time.monotonic() - begin
        mark(1, "purple" if len(found) == 1 else "black")
        mark(0, "orange" if took > SLOW else "green", f"job {job}: {' * '.join(map(str, found))}")
        print(f"{numbers[job]} = {' * '.join(map(str, found))}", flush=True)
    mark("-progress", len(mine), len(mine))
    mark(0, "white", "all done")


if __name__ == "__main__":
    main()
