"""How long pdbx takes to its first prompt, with all tasks in their main programs, and how much memory gdb has then: for a
small program, for one with much debugging information, and for the same one with an index of it. There is no peer in Debian 12."""

import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from measuring import BUILD, SHORT, environment, save, table
from results import row

PDBX = str(BUILD / "bin" / "pdbx")
TASKS = (1, 4) if SHORT else (1, 16, 64)
RUNS = 1 if SHORT else 5
# Structures in the large program, and how often its object is linked.
STRUCTURES, COPIES = (20, 1) if SHORT else (2000, 26)
LIMIT_SECONDS, LIMIT_MEMORY = 5, 500  # with 64 tasks
MAIN = "int work(int n) { return n + 1; }\nint main(int argc, char **) { return work(argc) - argc - 1; }\n"


def structures(number):
    """A source file with so many structures, each with fields, member functions and a function that calls these."""
    lines = ["namespace generated {"]
    for i in range(number):
        members = " ".join(f"long field_{k}; int method_{k}(int first, double second) "
                           f"{{ const int local = first + {k}; field_{k} += local; return local + (int)second; }}" for k in range(8))
        calls = " ".join(f"sum += each.method_{k}(x, 1.0);" for k in range(8))
        lines += [f"struct Structure{i} {{ Structure{i} *next; {members} }};",
                  f"int use_{i}(int x) {{ Structure{i} each{{}}; int sum = 0; {calls} return sum; }}"]
    return "\n".join([*lines, "}\n"])


def build(folder):
    """name -> (program, what it is). The large one has the same object several times: gdb reads the information of each copy."""
    (folder / "main.cpp").write_text(MAIN)
    (folder / "large.cpp").write_text(structures(STRUCTURES))
    for name in ("main", "large"):
        subprocess.run(["g++", "-g", "-c", f"{name}.cpp"], cwd=folder, check=True)
    subprocess.run(["g++", "main.o", "-o", "small"], cwd=folder, check=True)
    subprocess.run(["g++", "main.o", *["large.o"] * COPIES, "-Wl,-z,muldefs", "-o", "large"], cwd=folder, check=True)
    shutil.copy(folder / "large", folder / "indexed")
    subprocess.run(["gdb-add-index", "indexed"], cwd=folder, check=True)
    large = f"program with {debugging_bytes(folder / 'large') / 1e6:.0f} MB of debugging information"
    return {"small": (folder / "small", "small program"), "large": (folder / "large", large),
            "indexed": (folder / "indexed", large + " and an index of gdb")}


def debugging_bytes(program):
    sections = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[1]) for line in sections.splitlines() if line.startswith(".debug"))


def below(process):
    """The processes that this one has started, and those that they have."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rsplit(")", 1)[1].split()[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory_of_gdb(process):
    """The largest resident memory that the gdbs below this process have had so far, in MB."""
    sizes = [0]
    for each in below(process):
        try:
            if pathlib.Path(f"/proc/{each}/comm").read_text().strip() != "gdb":
                continue
            status = pathlib.Path(f"/proc/{each}/status").read_text()
        except OSError:
            continue
        sizes.append(int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024)
    return max(sizes)


def first_prompt(program, tasks):
    """Seconds until all tasks are in their main programs, and MB of gdb."""
    begin = time.perf_counter()
    job = subprocess.Popen([PDBX, str(program), "-procs", str(tasks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, env=environment())
    text = ""
    for text in job.stdout:
        if ": main " in text:
            break
    seconds, memory = time.perf_counter() - begin, memory_of_gdb(job.pid)
    job.communicate("quit\n", timeout=120)
    if ": main " not in text:
        raise SystemExit(f"bench debugger: pdbx with {tasks} tasks ended with {text!r}")
    return seconds, memory


def run():
    rows, values, shown = [], {}, []
    with tempfile.TemporaryDirectory(prefix="poe-bench-") as name:
        for which, (program, what) in build(pathlib.Path(name)).items():
            for tasks in TASKS:
                found = [first_prompt(program, tasks) for _ in range(RUNS)]
                seconds = [each for each, _ in found]
                memory = max(each for _, each in found)
                values[f"{which}, {tasks}"] = {"seconds": seconds, "megabytes": memory}
                shown.append([what, tasks, f"{min(seconds):.2f}-{max(seconds):.2f}", f"{memory:.0f}"])
                count = "1 task" if tasks == 1 else f"{tasks} tasks"
                limits = (LIMIT_SECONDS, LIMIT_MEMORY) if tasks == max(TASKS) else (None, None)
                rows.append(row(f"{what}, {count}, first prompt, s", statistics.median(seconds), target=limits[0]))
                rows.append(row(f"{what}, {count}, memory of gdb, MB", memory, target=limits[1]))
    table("pdbx: first prompt", ["program", "tasks", "seconds", "MB of gdb"], shown)
    save("debugger", values)
    return rows
