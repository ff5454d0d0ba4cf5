"""Compares what vt reports of an observed program with the profile that mpi_profile.c makes of the same run. Used by a
test and by hand for packaged applications:

    mpi_profiles.py LIBRARY TASKS PROGRAM [ARGUMENT...]      LIBRARY: openmpi or mpich

prints each function whose calls or bytes differ, and ends with 1 if one does."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("POE_BUILD", HERE.parents[1] / "build/release")).resolve()
# The observer counts the bytes of messages in the calls that complete requests; the profile does not.
WITHOUT_BYTES = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test", "MPI_Testall", "MPI_Testany",
                 "MPI_Testsome", "MPI_Start", "MPI_Startall"}


def compiled(library, place):
    path = os.path.join(place, f"mpi_profile_{library}.so")
    subprocess.run([f"/usr/bin/mpicc.{library}", "-shared", "-fPIC", "-O1", str(HERE / "mpi_profile.c"), "-o", path], check=True)
    return path


def run(profile, tasks, command, place, env=None, flags=()):
    """Runs the command with profile and trace; returns its output and the sums of both: {function: (calls, bytes)}."""
    env = dict(env or os.environ, LD_PRELOAD=profile, PROFILE_PREFIX=os.path.join(place, "profile"))
    trace = os.path.join(place, "profiled.trc")
    done = subprocess.run([BUILD / "bin/poe", *command, "-procs", str(tasks), "-tracelevel", "9", "-tracefile", trace, *flags],
                          env=env, cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed with {done.returncode}:\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
    summary = json.loads(subprocess.run([BUILD / "bin/vt", "-summary", "-json", trace], check=True, capture_output=True).stdout)
    traced = {call["name"]: (call["count"], call["bytes"]) for call in summary["calls"]}
    profiled = collections.defaultdict(lambda: (0, 0))
    for task in range(tasks):
        for line in pathlib.Path(f"{env['PROFILE_PREFIX']}.{task}").read_text().splitlines():
            name, calls, length = line.split()
            profiled[name] = (profiled[name][0] + int(calls), profiled[name][1] + int(length))
    return done, dict(profiled), traced, summary


def differences(profiled, traced):
    """Sentences about functions whose sums differ. Functions that the profile does not know are left out."""
    for name, (calls, length) in sorted(profiled.items()):
        seen = traced.get(name, (0, 0))
        if seen[0] != calls:
            yield f"{name}: {calls} calls in the profile, {seen[0]} in the trace"
        if name not in WITHOUT_BYTES and seen[1] != length:
            yield f"{name}: {length} bytes in the profile, {seen[1]} in the trace"


def main():
    library, tasks, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        _, profiled, traced, summary = run(compiled(library, place), int(tasks), command, place, flags=("-ttempsize", "8G"))
    found = list(differences(profiled, traced))
    only_traced = sorted(set(traced) - set(profiled) - {"MPI_Finalize"})
    print(f"{command[0]}: {len(profiled)} functions, {sum(calls for calls, _ in profiled.values())} calls, "
          f"{sum(length for name, (_, length) in profiled.items())} bytes; {len(found)} differences; lost {summary['lost']}"
          + (f"; not profiled: {', '.join(only_traced)}" if only_traced else ""))
    for each in found:
        print("  " + each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
