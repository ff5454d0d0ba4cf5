"""MPI on POE's own library, MPICH and Open MPI: one source compiled three times, in turns. A section for each kind of
figure, so that each can be measured and recorded on its own:

./dev bench mpi [SECTION [TASKS]]     SECTION: latency, nonblocking, halo, datatypes, matching, windows, start,
                                      collectives, files, programs

collectives, files and programs take a number of tasks: their sections are "collectives 4", "programs 16" and so on."""

import math

import coll_bench
import comm_bench
import mpi_files_bench
import mpi_jobs_bench
import mpi_windows_bench
from measuring import BUILD, HYDRA, OPEN_MPI, compile_program, ratio, save, scaled, table, text
from results import row

PEERS = ("MPICH", "Open MPI")
LATENCY = (8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
LATENCY_MEAN, OVER_MPL_NS, NONBLOCKING_MEAN, NOT_SLOWER = 0.7, 30, 0.8, 1.0
NONBLOCKING = {"exchange": (8, 1024, 65536, 1048576), "window": (8, 1024, 65536, 1048576),
               "twoway": (8, 1024, 65536, 1048576)}
TITLES = {"exchange": "exchange of 2 + 2 messages", "window": "64 in flight one way", "twoway": "64 in flight both ways",
          "halo2": "frame of a square of doubles", "halo3": "faces of a cube of doubles"}
HALO = {"halo2": (16, 128, 512), "halo3": (8, 32, 64)}
HALO_TASKS = (2, 4, 16)
LAYOUTS = {"vector": {1: "blocks of 1 double", 2: "blocks of 2", 8: "blocks of 8", 64: "blocks of 64"},
           "indexed": {1: "irregular blocks of 1", 8: "irregular blocks of 8"},
           "face": {0: "face of a cube, contiguous", 1: "face of a cube, rows", 2: "face of a cube, single elements"}}
DATATYPES_TARGET = 0.8
# Operation -> what it is, and the numbers of messages or communicators, of which the first is the measure.
MATCHING = {"posted": ("half a round trip among {} posted receives", (10, 10000)),
            "unexpected": ("half a round trip among {} unexpected messages", (10, 10000)),
            "wildcards": ("half a round trip among {} receives with ANY_SOURCE, one with ANY_TAG", (10, 10000)),
            "reverse": ("a match in reverse order, of {} posted receives", (10, 10000)),
            "late": ("a match in reverse order, of {} unexpected messages", (10, 10000)),
            "communicators": ("half a round trip, in turn over {} communicators", (10, 1000))}
MATCHING_TARGET = 1.3
OPERATIONS = ("bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "scatterv", "gatherv",
              "concatv", "indexv", "sync", "ibcast",
              "icombine", "iconcat", "iindex", "isync", "neighbor", "ineighbor")
WITHOUT_MPL, WITHOUT_SIZES = ("neighbor", "ineighbor"), ("sync", "isync")
SIZES = (8, 1024, 65536)
COLLECTIVES_MEAN = 0.5
# A run that takes longer than so many seconds counts as one that did not finish.
PATIENCE = 20
PATHS = {"patience": PATIENCE, "least": 5, "launches": scaled(3)}


def programs(source, mpl=False):
    name = source.removesuffix(".c")
    built = {"POE": compile_program(source, f"{name}_poe", str(BUILD / "bin" / "mpicc.poe"), "-DUSE_MPI")}
    if mpl:
        built["MPL"] = compile_program(source, f"{name}_mpl", str(BUILD / "bin" / "mpcc"))
    for peer, compiler in (("MPICH", "mpicc.mpich"), ("Open MPI", "mpicc.openmpi")):
        built[peer] = compile_program(source, f"{name}_{compiler}", compiler, "-DUSE_MPI", "-Wno-stringop-overflow")
    return built


def mean_of(values):
    """The geometric mean of the values that are there; None if none is."""
    known = [value for value in values if value]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def mean_row(what, shares, target):
    """A row for the geometric mean of ratios."""
    share = mean_of(shares)
    table(what, ["geometric mean of POE/best", "target"], [[text(share), target]])
    return {"what": f"{what}, geometric mean of {sum(map(bool, shares))} ratios", "ours": None, "ratio": share,
            "target": target}


def compared(what, found, number, target):
    """The row and the ratio of one figure; `found`: name -> number -> microseconds. A peer without a value did not
    finish, which the row says."""
    values = {name: found[name][number] for name in PEERS}
    late = [name for name in PEERS if values[name] is None]
    made = row(what + (f" ({' and '.join(late)} did not finish)" if late else ""), found["POE"][number], values, target)
    return made, ratio(found["POE"][number], *values.values())


def latency():
    built, rows = programs("comm_bench.c", mpl=True), []
    limits = comm_bench.limits()
    found = comm_bench.operation(built, "pingpong", LATENCY)
    comm_bench.show("half a round trip, us", found, dict.fromkeys(LATENCY, NOT_SLOWER), "POE")
    for state, of in sorted(found.items()):
        made = [compared(f"half a round trip, {size} B, {state}, µs", of, size, NOT_SLOWER) for size in LATENCY]
        rows.append(mean_row(f"half a round trip, {state}", [share for _, share in made], LATENCY_MEAN))
        rows += [made_row for made_row, _ in made]
        for size in (8, 1024):
            if of["MPL"][size] and of["POE"][size]:
                rows.append(row(f"an MPI call over its MPL call, {size} B, {state}, ns",
                                1e3 * (of["POE"][size] - of["MPL"][size]), None, OVER_MPL_NS))
        rows += [row(f"half a round trip, {size} B, {state}, µs", of["POE"][size], {limit: limits[name]}, None)
                 for size, name, limit in ((8, "line", "a cache line"), (65536, "copy_65536", "one copy"),
                                           (4194304, "copy_4194304", "one copy"))]
    return rows, found


def nonblocking():
    rows, results = [], {}
    sources = {"exchange": programs("comm_bench.c"), "window": programs("mpi_paths_bench.c")}
    shares = {}
    for what, sizes in NONBLOCKING.items():
        built = sources.get(what, sources["window"])
        results[what] = found = comm_bench.operation(built, what, sizes, patience=PATIENCE)
        comm_bench.show(f"{TITLES[what]}, us per message", found, dict.fromkeys(sizes, NOT_SLOWER), "POE")
        for state, of in sorted(found.items()):
            for size in sizes:
                made, share = compared(f"{TITLES[what]}, {size} B, {state}, µs", of, size, NOT_SLOWER)
                rows.append(made)
                shares.setdefault(state, []).append(share)
    means = [mean_row(f"non-blocking messages, {state}", of, NONBLOCKING_MEAN) for state, of in sorted(shares.items())]
    return means + rows, results


def halo():
    built, rows, shares, results = programs("mpi_paths_bench.c"), [], [], {}
    for what, sizes in HALO.items():
        for tasks in HALO_TASKS:
            results[f"{what} {tasks}"] = found = comm_bench.operation(built, what, sizes, tasks, **PATHS)
            comm_bench.show(f"{TITLES[what]}, {tasks} tasks, us", found, dict.fromkeys(sizes, NOT_SLOWER), "POE")
            for state, of in sorted(found.items()):
                for size in sizes:
                    made, share = compared(f"{TITLES[what]}, edge {size}, {tasks} tasks, {state}, µs", of, size, NOT_SLOWER)
                    rows.append(made)
                    shares.append(share)
    return [mean_row("exchange of frames", shares, NONBLOCKING_MEAN)] + rows, results


def datatypes():
    built, rows, results = programs("mpi_paths_bench.c"), [], {}
    for what, numbers in LAYOUTS.items():
        found = comm_bench.operation(built, what, tuple(numbers), **PATHS)
        hand = comm_bench.operation(built, f"{what}-hand", tuple(numbers), names=["POE"], **PATHS)
        results[what] = {"typed": found, "hand": hand}
        for state, of in sorted(found.items()):
            comm_bench.show(f"half a round trip, {what}, us", {state: of}, dict.fromkeys(numbers, DATATYPES_TARGET), "POE")
            for number, title in numbers.items():
                rows.append(compared(f"{title}, {state}, µs", of, number, DATATYPES_TARGET)[0])
                by_hand = hand.get(state, {}).get("POE", {}).get(number)
                rows.append(row(f"{title}, {state}, µs", of["POE"][number], {"packed by hand": by_hand}, NOT_SLOWER))
    return rows, results


def matching():
    built = {**programs("mpi_paths_bench.c")}
    crowd = programs("comm_bench.c")
    rows, results = [], {}
    for what, (title, (few, many)) in MATCHING.items():
        found = comm_bench.operation(crowd if what in ("posted", "unexpected") else built, what, (few, many), **PATHS)
        results[what] = found
        comm_bench.show(f"{title.format('so many')}, us", found, {few: None, many: None}, "POE")
        for state, of in sorted(found.items()):
            rows.append(row(f"{title.format(many)}, {state}, µs", of["POE"][many],
                            {f"of {few}": of["POE"][few]}, MATCHING_TARGET))
            rows.append(compared(f"{title.format(many)}, {state}, µs", of, many, None)[0])
    return rows, results


def collectives(tasks):
    built, rows, shares, results, shown = programs("coll_bench.c", mpl=True), [], [], {}, []
    for operation in OPERATIONS:
        programs_of = {name: path for name, path in built.items() if name != "MPL" or operation not in WITHOUT_MPL}
        for size in SIZES if operation not in WITHOUT_SIZES else SIZES[:1]:
            found = coll_bench.cell(programs_of, operation, size, tasks, ())
            results[f"{operation} {size}"] = found
            of = {name: {size: value} for name, value in found.items()}
            made, share = compared(f"{operation}, {size} B, {tasks} tasks, µs", of, size, None)
            shares.append(share)
            rows.append(made)
            if "MPL" in found:
                rows.append(row(f"{operation}, {size} B, {tasks} tasks, µs", found["POE"], {"MPL": found["MPL"]}, 1.1))
            shown.append([operation, size, *(text(found.get(name), 1, 2) for name in built), text(share)])
    table(f"collective calls of {tasks} tasks, us", ["operation", "bytes", *built, "POE/best"], shown)
    return [mean_row(f"collective calls of {tasks} tasks", shares, COLLECTIVES_MEAN)] + rows, results


def windows():
    return mpi_windows_bench.windows(programs, compared, mean_row, PATHS)


FUNCTIONS = {"latency": latency, "nonblocking": nonblocking, "halo": halo, "datatypes": datatypes, "matching": matching,
             "windows": windows, "start": mpi_jobs_bench.start, "collectives": collectives,
             "files": mpi_files_bench.files, "programs": mpi_jobs_bench.programs}
SECTIONS = [("latency",), ("nonblocking",), ("halo",), ("datatypes",), ("matching",), ("windows",), ("start",),
            *(("collectives", tasks) for tasks in ("2", "4", "16")), *(("files", tasks) for tasks in ("4", "16")),
            *(("programs", tasks) for tasks in ("4", "16"))]


def sections(words):
    """The sections that these words of the command line mean: (section) or (section, tasks)."""
    chosen = [section for section in SECTIONS if section[:len(words)] == tuple(words)]
    if not chosen:
        raise SystemExit(f"bench mpi: no section {' '.join(words)}; there are: {', '.join(map(' '.join, SECTIONS))}")
    return chosen


def run(*section):
    if not HYDRA or not OPEN_MPI:
        raise SystemExit("bench mpi: needs mpich and openmpi-bin (./dev bench installs them)")
    rows, results = FUNCTIONS[section[0]](*map(int, section[1:]))
    save("-".join(("mpi", *section)), results)
    return rows
