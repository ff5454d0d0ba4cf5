"""The measurements of the CC-MPI paper (Karwande, Yuan, Lowenthal 2003) on hosts of the test bed: MPI programs under
poe, Open MPI and MPICH, in turns. One task on each host; each host sends and gets at most 100 Mbit/s, then 1 Gbit/s.

  collectives   bcast, scatter, allgather and alltoall of several lengths, also with what mptune has measured
                between the hosts; bcast also with -multicast yes
  five          a scatterv from one task to five (figure 10), with and without an open group
  levels        an alltoallv at levels 1, 2 and 3 (table 2), random blocks (table 3), the exchange of pages (table 6)
  programs      IS and FT, class W
  plan          an alltoallv of random short blocks, and IS, classes S and W, with and without a plan (vt -plan)

./dev bench ccmpi [SECTION]... [RATE]... [HOSTS]: all sections at both rates on 16 hosts by default. A limit is what
the cables need: the bytes that one host sends or gets, at the rate. LAM/MPI is not measured, because it does not run as
root, as hosts of the test bed do."""

import functools
import json
import os
import subprocess
import sys
import tempfile

from measuring import BUILD, HYDRA, OPEN_MPI, POE, ROOT, compile_program, in_turns, output_of, ratio, save, scaled, table, text
from results import row

TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
RATES = {"100mbit": 12.5, "1gbit": 125.0}  # bytes per microsecond
HOSTS = 16
LAUNCHES = scaled(3)
SECONDS = "0.3"  # of measuring, in one launch
PATIENCE = 25  # seconds for one launch
PATIENCE_PROGRAM = 180
KB, MB = 1 << 10, 1 << 20
PEERS = ("Open MPI", "MPICH")
MULTICAST = "POE multicast"  # poe -multicast yes
TUNED = "POE tuned"  # with a tuning file that mptune has written on these hosts
PLAN = "POE plan"  # poe -plan, with a plan of a run before
# Operation, bytes, largest ratio at 100 Mbit/s, and the bytes that go through the busiest cable for `n` hosts.
COLLECTIVES = (("bcast", 8, 1.05), ("bcast", 10 * KB, 0.5), ("bcast", MB, 0.4),
               ("scatter", 56, 1.05), ("scatter", 5 * KB, 1.0),
               ("concat", 8, 1.05), ("concat", KB, 1.05), ("concat", 8 * KB, 1.0), ("concat", 64 * KB, 0.7), ("concat", 256 * KB, 1.0),
               ("index", 8, 1.05), ("index", KB, 1.05), ("index", 8 * KB, 1.0), ("index", 64 * KB, 0.65), ("index", 256 * KB, 0.9))
FIVE = (50, KB, 8 * KB)
LEVELS = (("levels", 2 * KB), ("levels", 16 * KB), ("levels", 64 * KB), ("random", 1), ("pages", 1), ("pages", 4), ("pages", 8))
MODES = ("mpi", "1all", "2all", "3all", "3greedy", "3")
PROGRAMS = ("is", "ft")
PROGRAM_CLASS = "W"
PLANNED = (("cc", ("short", "256", "mpi", SECONDS)), ("cc", ("short", "1024", "mpi", SECONDS)), ("is", ("S",)), ("is", ("W",)))
SECTIONS = ("collectives", "five", "levels", "programs", "plan")


def bytes_of_a_cable(operation, size, hosts):
    return size if operation == "bcast" else size * (hosts - 1)


def launchers(hosts, hostfile):
    """name -> the words before a program and its arguments."""
    ours = ["-procs", str(hosts), "-hostfile", hostfile]
    return {"POE": ([POE], ours), MULTICAST: ([POE], [*ours, "-multicast", "yes"]),
            # Without the mapping, Open MPI starts as many tasks on each host as it has processors.
            "Open MPI": ([OPEN_MPI, "--hostfile", hostfile, "-n", str(hosts), "--map-by", "ppr:1:node", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                          "--mca", "mpi_yield_when_idle", "1"], []),
            "MPICH": (["env", "UCX_TLS=tcp,self", HYDRA, "-f", hostfile, "-n", str(hosts)], [])}


def milliseconds(command, field):
    """What a launch on the first host prints as this word, as milliseconds; None when it failed or took too long."""
    out = output_of([TESTBED, "on", "0", *command], PATIENCE)
    return float(out.split()[field]) / 1000 if out else None


def once(run):
    """The same, but measured in the first turn only."""
    return functools.cache(run)


def seconds_of(command):
    """The time that a NAS program prints."""
    out = output_of([TESTBED, "on", "0", *command], PATIENCE_PROGRAM)
    for word, unit in zip(out.split(), out.split()[1:]) if out else ():
        if unit.startswith("s") and word.replace(".", "", 1).isdigit():
            return float(word)
    return None


def measure_tuning(folder, after, *flags):
    """The file of what mptune measures between the hosts."""
    tuning = os.path.join(folder, "tuning")
    if not os.path.exists(tuning):
        output_of([TESTBED, "on", "0", str(BUILD / "bin" / "mptune"), *flags, "-o", tuning, *after], PATIENCE_PROGRAM)
    return tuning


def write_plan(plan, before, after, command):
    """Writes the plan of a traced run of the command, decided by the costs of messages that mptune has measured between
    the hosts."""
    tuning = measure_tuning(os.path.dirname(plan), after, "-longest", "64k")
    trace = plan + ".trc"
    if output_of([TESTBED, "on", "0", *before, *command, *after, "-tracelevel", "9", "-tracefile", trace], PATIENCE_PROGRAM):
        subprocess.run([str(BUILD / "bin" / "vt"), "-plan", "-o", plan, trace], check=True, stderr=subprocess.DEVNULL,
                       env=os.environ | {"MP_TUNEFILE": tuning})
        os.remove(trace)


def measure(sections, programs):
    """Beside the hosts, in the test bed: prints what was measured, as JSON."""
    hosts = int(os.environ["TESTBED_HOSTS"])
    found = {}
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
        file.writelines(f"node{k}\n" for k in range(hosts))
        file.flush()
        around = launchers(hosts, file.name)

        def times(source, words, read, names=("POE", *PEERS), modes=None):
            """`modes`: further names, which stand for POE with this mode."""
            def command(name, its_words):
                before, after = around[name]
                return [*before, programs[source][name if name in PEERS else "POE"], *its_words, *after]
            wanted = {name: command(name, words(None)) for name in names}
            wanted |= {f"POE {mode}": command("POE", words(mode)) for mode in modes or ()}
            runs = {name: lambda its=its: read(its) for name, its in wanted.items()}
            runs["MPICH"] = once(runs["MPICH"])
            values = in_turns(LAUNCHES, runs)
            print(source, words(None), *(f"{name} {text(value)}" for name, value in values.items()), file=sys.stderr)
            return values

        if "collectives" in sections:
            with tempfile.TemporaryDirectory() as folder:
                before, after = around["POE"]
                around[TUNED] = (["env", f"MP_TUNEFILE={measure_tuning(folder, after)}", *before], after)
                for operation, size, _ in COLLECTIVES:
                    names = ("POE", TUNED, *((MULTICAST,) if operation == "bcast" else ()), *PEERS)
                    found[f"{operation} {size}"] = times("coll", lambda _: (operation, str(size), SECONDS), lambda c: milliseconds(c, 3), names)
        if "five" in sections:
            for size in FIVE:
                found[f"five {size}"] = times("cc", lambda mode: ("five", str(size), mode or "mpi", SECONDS),
                                              lambda c: milliseconds(c, 4), modes=("group",))
        if "levels" in sections:
            for what, number in LEVELS:
                found[f"{what} {number}"] = times("cc", lambda mode: (what, str(number), mode or "mpi", SECONDS),
                                                  lambda c: milliseconds(c, 4), modes=MODES[1:])
        if "programs" in sections:
            for program in PROGRAMS:
                found[f"{program} {PROGRAM_CLASS}"] = times(program, lambda _: (PROGRAM_CLASS,), seconds_of)
        if "plan" in sections:
            with tempfile.TemporaryDirectory() as folder:
                for source, words in PLANNED:
                    before, after = around["POE"]
                    file_of_plan = os.path.join(folder, "plan")
                    write_plan(file_of_plan, before, after, [programs[source]["POE"], *words])
                    around[PLAN] = (before, [*after, "-plan", file_of_plan])
                    read = seconds_of if source == "is" else lambda c: milliseconds(c, 4)
                    name = f"is {words[0]}" if source == "is" else f"short {words[1]}"
                    found[name] = times(source, lambda _, its=words: its, read, ("POE", PLAN, *PEERS))
    print(json.dumps(found))


def inside(rate, hosts, sections, programs):
    command = [TESTBED, "--rate", rate, str(hosts), "--", sys.executable, __file__, ",".join(sections), json.dumps(programs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("bench ccmpi: the test bed does not start; it needs root, iproute2 and openssh-server")
    return json.loads(done.stdout.splitlines()[-1])


def compiled(sections):
    """source -> implementation -> program."""
    compilers = {"POE": str(BUILD / "bin" / "mpicc.poe"), "Open MPI": "mpicc.openmpi", "MPICH": "mpicc.mpich"}
    sources = {}
    if "collectives" in sections:
        sources["coll"] = ("coll_bench.c", ["-DUSE_MPI", "-w"], [])
    if {"five", "levels", "plan"} & set(sections):
        sources["cc"] = ("ccmpi_bench.c", [], ["-DWITH_CC", "-lmpi_cc"])
    if "programs" in sections:
        sources |= {program: (str(ROOT / "examples" / "nas" / f"{program}.c"), ["-lm"], []) for program in PROGRAMS}
    if "plan" in sections:
        sources["is"] = (str(ROOT / "examples" / "nas" / "is.c"), ["-lm"], [])
    return {source: {name: compile_program(file, f"ccmpi_{source}_{name.replace(' ', '').lower()}", compiler, *flags,
                                           *(ours if name == "POE" else []))
                     for name, compiler in compilers.items()}
            for source, (file, flags, ours) in sources.items()}


def run(*words):
    sections = [word for word in words if word in SECTIONS] or list(SECTIONS)
    rates = [word for word in words if word in RATES] or list(RATES)
    hosts = next((int(word) for word in words if word.isdigit()), HOSTS)
    wrong = [word for word in words if word not in SECTIONS and word not in RATES and not word.isdigit()]
    if wrong:
        raise SystemExit(f"bench ccmpi: no section or rate {' '.join(wrong)}; there are {' '.join((*SECTIONS, *RATES))}")
    programs = compiled(sections)
    cells, rows = {}, []
    limits = {f"{operation} {size}": (operation, size, target) for operation, size, target in COLLECTIVES}
    for rate in rates:
        found = inside(rate, hosts, sections, programs)
        lines = []
        for what, times in found.items():
            peers = {name: times[name] for name in PEERS}
            operation, size, target = limits.get(what, (None, None, None))
            wire = "-" if operation is None else text(bytes_of_a_cable(operation, size, hosts) / RATES[rate] / 1000, 1, 3)
            unit = "s" if what.split()[0] in PROGRAMS else "ms"
            ours = {name: value for name, value in times.items() if name not in PEERS}
            lines.append([what, unit, *(text(peers[name], 1, 3) for name in PEERS),
                          *(text(ours.get(name), 1, 3) for name in ("POE", TUNED, MULTICAST, PLAN, "POE group", *(f"POE {mode}" for mode in MODES[1:]))),
                          wire, text(ratio(times["POE"], *peers.values())), text(target) if rate == "100mbit" else ""])
            for name, value in ours.items():
                where = f"{what} B" if operation else what
                rows.append(row(f"{where}, {hosts} hosts at {rate}/s, {name}, {unit}", value, peers,
                                target if rate == "100mbit" and name == "POE" else None))
        table(f"{hosts} hosts at {rate}/s", ["", "", *PEERS, "POE", "tuned", "multicast", "plan", "group", *MODES[1:], "cables", "POE/best", "target"], lines)
        cells[rate] = found
    save("ccmpi", cells)
    return rows


if __name__ == "__main__":
    measure(sys.argv[1].split(","), json.loads(sys.argv[2]))
