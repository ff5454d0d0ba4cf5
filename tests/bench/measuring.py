"""What the benchmarks share: building their programs, timing by rounds, tables, JSON."""

import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
OUT = ROOT / "build" / "bench"
POE = str(BUILD / "bin" / "poe")
HYDRA = shutil.which("mpiexec.mpich")
OPEN_MPI = shutil.which("mpirun.openmpi")
# POE_BENCH_SHORT=1: see that a benchmark works; its figures mean little.
SHORT = os.environ.get("POE_BENCH_SHORT", "") not in ("", "0")


class Measured(float):
    """The median of the values of several launches, with the smallest (`low`) and the largest (`high`) of them."""

    def __new__(cls, values):
        self = super().__new__(cls, statistics.median(values))
        self.low, self.high = min(values), max(values)
        return self

    def times(self, scale):
        """The same in other units."""
        return Measured((self.low * scale, self * scale, self.high * scale))


def measured(values):
    """Measured of the values that are not None; None if there are none."""
    good = [value for value in values if value is not None]
    return Measured(good) if good else None


def scaled(count, by=20):
    """How often something is done in a short run."""
    return max(1, count // by) if SHORT else count


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MP_", "PMI", "OMPI_", "HYDRA"))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return env


def compile_program(source, name, compiler="cc", *flags):
    """Compiles tests/bench/SOURCE with `compiler`; the path of the program."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / name
    # Libraries among the flags must follow the source.
    subprocess.run([compiler, "-O2", "-o", program, pathlib.Path(__file__).parent / source, *flags], check=True)
    return str(program)


def hydra(tasks, *command):
    return [HYDRA, "-n", str(tasks), *command]


def open_mpi(tasks, *command):
    return [OPEN_MPI, "--oversubscribe", "-n", str(tasks), *command]


def poe(tasks, *command):
    return [POE, *command, "-procs", str(tasks)]


def seconds(command, timeout=120, **options):
    """Wall time of one run; None when it hangs or fails."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    env = environment()
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=env, start_new_session=True, **options)
    # wait(timeout) would look at growing intervals, which is not a measurement.
    hung = threading.Timer(timeout, lambda: os.killpg(process.pid, 9))
    hung.start()
    code = process.wait()
    took = time.perf_counter() - begin
    hung.cancel()
    return took if code == 0 else None


def rounds(runs, count):
    """Medians (and all values) of each of `runs` (name -> function giving a number or None), taken in turn
    so that a noisy moment hits all of them."""
    values = {name: [] for name in runs}
    for name, run in runs.items():
        run()  # warm up
    for _ in range(count):
        for name, run in runs.items():
            values[name].append(run())
    result = {}
    for name, all_values in values.items():
        result[name] = {"median": measured(all_values), "values": all_values, "failed": all_values.count(None)}
    return result


def median(results, name, scale=1.0):
    """The median that rounds() found for that run, in other units; None if there is none."""
    value = results.get(name, {}).get("median")
    if isinstance(value, Measured):
        return value.times(scale)
    return None if value is None else value * scale


def system():
    """Such as "Debian 12"; nothing where the system does not say it."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return None
    return f"{release['NAME'].split()[0]} {release.get('VERSION_ID', '')}".strip()


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "?")
    versions = {}
    for package in ("mpich", "openmpi-bin", "libpmix2"):
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
        versions[package] = shown.stdout or "not installed"
    return {"cpu": model, "cores": os.cpu_count(), "system": system(), "kernel": platform.release(),
            "date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0], **versions}


def ratio(ours, *peers):
    good = [p for p in peers if p]
    return ours / min(good) if ours and good else None


def text(value, scale=1.0, digits=2):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def table(title, header, rows):
    cells = [list(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
    sys.stdout.flush()


def save(name, results):
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"{name}.json"
    file.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    print(f"\n  {file.relative_to(ROOT)}; {machine()}")


def output_of(command, patience, **variables):
    """What a command has printed; None if it failed, which is reported, or took more than `patience` seconds."""
    process = subprocess.Popen(command, env={**environment(), **variables}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode != 0:
        print(f"  {command[0]} failed: {err.strip()[-300:]}", file=sys.stderr)
        return None
    return out


def in_turns(launches, runs):
    """name -> median of what its run gives, of so many launches in turns; one that gave None is not run again.
    Each turn begins with another one, so that no program always runs after the same other program."""
    values = {name: [] for name in runs}
    names = list(runs)
    for turn in range(launches):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if None not in values[name]:
                values[name].append(runs[name]())
    return {name: measured(of) for name, of in values.items()}
