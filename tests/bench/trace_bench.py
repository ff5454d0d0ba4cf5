"""Traces: what a record costs, beside the clock and beside a writer of OTF2; how much slower a ping-pong and
heat2d become at each level; bytes per event."""

import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from measuring import BUILD, OUT, POE, ROOT, compile_program, environment, rounds, save, scaled, table, text

LEVELS = (0, 1, 2, 3, 9)
ROUND_TRIPS = scaled(200_000)
RECORDS = scaled(5_000_000)
OTF2_PAIRS = scaled(2_500_000)
ROUNDS = scaled(5)
# Of the trace to be searched.
SEARCH_TASKS = 64
SEARCH_RECORDS = scaled(10_000_000)
# Of the trace to be read: 1 GB.
READ_TASKS = 1000
READ_RECORDS = scaled(42_000_000)
SEEKS = 20


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


def vt(*args):
    """Seconds and peak memory in MB of one vt."""
    begin = time.perf_counter()
    process = subprocess.Popen([BUILD / "bin" / "vt", *map(str, args)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, env=environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return (time.perf_counter() - begin, usage.ru_maxrss / 1024) if status == 0 else (None, None)


def reading():
    """A large trace is indexed, opened, and looked at in many places; each time by a vt of its own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        trace = os.path.join(place, "large.trc")
        subprocess.run(["ninja", "-C", BUILD, "bin/make_trace"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BUILD / "bin" / "make_trace", trace, str(READ_TASKS), str(READ_RECORDS)], check=True)
        index = vt(trace, "-view", "timeline")
        opened = vt(trace, "-view", "timeline")
        length = 100 / SEEKS
        seeks = [vt(trace, "-view", view, "-from", f"{at * length}%", "-to", f"{at * length + 0.1}%")
                 for at in range(SEEKS) for view in ("timeline", "matrix", "balance", "utilization")]
        size = os.path.getsize(trace) / 1e9
        table(f"Reading a trace of {size:.2f} GB and {READ_TASKS} tasks",
              ["", "s", "at most", "peak MB", "at most"],
              [["its index", text(index[0]), text(20 * size), text(index[1], digits=0), 300],
               ["open, all of it", text(opened[0]), 2, text(opened[1], digits=0), 300],
               ["the slowest place and view, with the opening", text(max(seek[0] for seek in seeks)), "",
                text(max(seek[1] for seek in seeks), digits=0), 300],
               ["the same without the opening", text(max(seek[0] for seek in seeks) - opened[0], digits=3), 0.1, "", ""]])
    return {"size": size, "index": index, "open": opened, "seeks": seeks}


def private_memory(process):
    """MB of private memory of a process; pages of files that it has mapped can be given back at any time."""
    try:
        found = re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def summarizing():
    """`vt -summary`, which replays each record and keeps a history: its time, and the private memory at most, read every
    10 ms."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        trace = os.path.join(place, "summarized.trc")
        subprocess.run(["ninja", "-C", BUILD, "bin/make_trace"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BUILD / "bin" / "make_trace", trace, str(SEARCH_TASKS), str(SEARCH_RECORDS)], check=True)
        found = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            most = 0
            process = subprocess.Popen([BUILD / "bin" / "vt", "-summary", trace], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, env=environment())
            while process.poll() is None:
                most = max(most, private_memory(process.pid))
                time.sleep(0.01)
            if process.returncode != 0:
                raise SystemExit("bench trace: vt -summary has failed")
            found.append((time.perf_counter() - begin, most))
    seconds, peak = statistics.median(each for each, _ in found), max(most for _, most in found)
    table(f"The summary of {SEARCH_RECORDS:,} records of {SEARCH_TASKS} tasks", ["", "", "at most"],
          [["s", text(seconds), ""], ["peak of private memory, MB", text(peak, digits=0), 300]])
    return {"seconds": seconds, "private_mb": peak}


def searching():
    """Searches in a trace of ten million records that is indexed already."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        trace = os.path.join(place, "searched.trc")
        subprocess.run(["ninja", "-C", BUILD, "bin/make_trace", "bin/search_trace"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BUILD / "bin" / "make_trace", trace, str(SEARCH_TASKS), str(SEARCH_RECORDS)], check=True)
        program = str(BUILD / "bin" / "search_trace")
        subprocess.run([program, trace], check=True, stdout=subprocess.DEVNULL)

        def times():
            lines = subprocess.run([program, trace], check=True, capture_output=True, text=True).stdout.split()
            return [float(line) for line in lines]

        runs = [times() for _ in range(ROUNDS)]
        medians = [sorted(run[i] for run in runs)[len(runs) // 2] for i in range(4)]
        names = ["for nothing, backwards", "for nothing, forwards", "for a marker at the begin, from the end",
                 "the marker before, at the begin"]
        table(f"Searching {SEARCH_RECORDS:,} records", ["", "ms"], [[name, text(ms)] for name, ms in zip(names, medians)])
    return dict(zip(names, medians))


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
    save("trace", {"reading": reading(), "summarizing": summarizing(), "searching": searching(), "costs": costs, "pingpong": paces, "heat2d": heats,
                   "sizes": {f"{name} {level}": value for (name, level), value in sizes.items()}})
