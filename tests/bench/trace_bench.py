"""Traces: what a record costs, beside the clock and beside a writer of OTF2; how much slower a ping-pong and
heat2d become at each level; bytes per event."""

import os
import pathlib
import re
import subprocess
import tempfile

from measuring import BUILD, OUT, POE, ROOT, compile_program, environment, rounds, save, table, text

LEVELS = (0, 1, 2, 3, 9)
ROUND_TRIPS = 200_000
RECORDS = 5_000_000
OTF2_PAIRS = 2_500_000
ROUNDS = 5


def job(place, level, tasks, *command):
    """What a job has printed, and bytes and records of its trace."""
    run = subprocess.run([POE, *map(str, command), "-procs", str(tasks), "-tracelevel", str(level), "-tmpdir", "/dev/shm",
                          "-ttempsize", "1G", "-tracefile", "trace.trc"],
                         cwd=place, capture_output=True, text=True, timeout=300, env=environment(), stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        return None, 0, 0
    told = re.search(r"([\d,]+) records", run.stderr)
    trace = pathlib.Path(place, "trace.trc")
    size = trace.stat().st_size if trace.exists() else 0
    trace.unlink(missing_ok=True)
    return run.stdout, size, int(told.group(1).replace(",", "")) if told else 0


def otf2(program):
    """Nanoseconds and bytes per event."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        run = subprocess.run([program, os.path.join(place, "t"), str(OTF2_PAIRS)], capture_output=True, text=True)
        size = sum(path.stat().st_size for path in pathlib.Path(place).rglob("*.evt"))
    return (float(run.stdout), size / (2 * OTF2_PAIRS)) if run.returncode == 0 else (None, None)


def run():
    mpcc = str(BUILD / "bin" / "mpcc")
    program = compile_program("trace_bench.c", "trace_bench", mpcc)
    heat = str(BUILD / "bench-heat2d")
    subprocess.run([mpcc, "-O2", ROOT / "examples" / "heat2d.c", "-o", heat, "-lm"], check=True)
    writer = None
    otf2_flags = subprocess.run(["pkg-config", "--cflags", "--libs", "otf2"], capture_output=True, text=True)
    if otf2_flags.returncode == 0:
        writer = OUT / "trace_otf2"
        subprocess.run(["cc", "-O2", ROOT / "tests/bench/trace_otf2.c", "-o", writer, *otf2_flags.stdout.split()], check=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        sizes = {}

        def records(which):
            out, _, _ = job(place, 9, 1, program, "records", RECORDS)
            return float(out.split()[which]) if out else None

        def pingpong(level):
            out, size, count = job(place, level, 2, program, "pingpong", ROUND_TRIPS)
            sizes["ping-pong", level] = (size, count)
            return float(out) if out else None

        def heat2d(level):
            begin = os.times().elapsed
            out, size, count = job(place, level, 2, heat)
            sizes["heat2d", level] = (size, count)
            return os.times().elapsed - begin if out else None

        singles = {"a counter, clock included": lambda: records(0), "the clock": lambda: records(1)}
        if writer:
            singles["OTF2, clock included"] = lambda: otf2(writer)[0]
        costs = rounds(singles, ROUNDS)
        paces = rounds({f"ping-pong {level}": lambda level=level: pingpong(level) for level in LEVELS}, ROUNDS)
        heats = rounds({f"heat2d {level}": lambda level=level: heat2d(level) for level in LEVELS}, ROUNDS)
    table("An event, ns (ours at most 25 beyond the clock)", ["", "ns"],
          [[name, text(value["median"])] for name, value in costs.items()])
    base, slow = paces["ping-pong 0"]["median"], heats["heat2d 0"]["median"]
    table("Level by level", ["level", "ping-pong, ns a round", "ratio", "heat2d, ms", "ratio", "bytes a record"],
          [[level, text(paces[f"ping-pong {level}"]["median"]), text(paces[f"ping-pong {level}"]["median"], 1 / base, 2),
            text(heats[f"heat2d {level}"]["median"], 1000), text(heats[f"heat2d {level}"]["median"], 1 / slow, 2),
            text(sizes["ping-pong", level][0] / max(sizes["ping-pong", level][1], 1), digits=1)] for level in LEVELS])
    if writer:
        print(f"OTF2 writes {otf2(writer)[1]:.1f} bytes an event.")
    save("trace", {"costs": costs, "pingpong": paces, "heat2d": heats,
                   "sizes": {f"{name} {level}": value for (name, level), value in sizes.items()}})
