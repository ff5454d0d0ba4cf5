#!/usr/bin/env python3
"""Checks the structure of the source tree and fails when one of these rules is broken:

1. An include goes only to a room that the table ALLOWED names, so knowledge flows one way.
2. No circle of modules exists. A module is a header together with the source file of the same name.
3. A library that belongs to one room is included nowhere else (ONE_ROOM).
4. Each room that has rooms inside, and each of those, has a README.md and a row in ALLOWED.
5. A source or document that names a file or a type of the project names one that exists.
6. No class has more than MOST_MEMBERS private data members. Larger ones have parts that deserve a name.

The table is the one in ARCHITECTURE.md, in more detail."""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BASE = ["base", "base/segment"]
COMM = BASE + ["comm/progress", "comm/matching", "comm/shm", "comm/multicast", "comm/tcp", "comm/bootstrap", "comm/api", "tracer/probe"]
COLLECTIVES = ["collectives/schedule", "collectives/selection", "collectives/call", "collectives/shm", "collectives/engine"]
NODE = BASE + ["partition_manager/job", "partition_manager/channel"]

# A room may include from itself and from the rooms listed here. The longest match counts: a file in
# comm/shm is in the room comm/shm and not in comm.
ALLOWED = {
    "base": [],
    "base/segment": ["base"],
    "tracer/probe": BASE,
    "terminal": BASE,
    "markerarray/client": BASE + ["tracer/probe"],

    "comm/progress": BASE,
    "comm/matching": BASE + ["comm/progress", "tracer/probe"],
    "comm/shm": BASE + ["comm/progress", "comm/matching"],
    "comm/multicast": BASE,
    "comm/tcp": BASE + ["comm/progress", "comm/matching", "comm/multicast"],
    "comm/bootstrap": BASE + ["comm/progress", "comm/matching", "comm/shm", "comm/multicast", "comm/tcp", "tracer/probe"],
    "comm/api": BASE + ["comm/progress", "comm/matching", "comm/bootstrap", "tracer/probe"],

    "collectives/schedule": ["base"],
    "collectives/selection": BASE + ["collectives/schedule"],
    "collectives/call": BASE + ["collectives/schedule", "comm/api"],
    "collectives/shm": COMM + ["collectives/schedule", "collectives/call"],
    "collectives/engine": COMM + ["collectives/schedule", "collectives/selection", "collectives/call",
                                  "collectives/shm"],
    "collectives/api": COMM + ["collectives/schedule", "collectives/call", "collectives/engine"],
    "collectives/mpsim": ["base", "collectives/schedule", "collectives/selection"],
    "collectives/mptune": COMM + ["collectives/schedule", "collectives/selection", "collectives/engine",
                                  "collectives/api"],

    "mpi/table": ["base"],
    "mpi/fortran": [],
    "mpi/cc": ["base/types.hpp", "collectives/schedule"],
    "mpi/observe": BASE + ["tracer/probe"],
    "mpi/foreign_abi": ["mpi/object/handle.hpp", "mpi/object/status.hpp", "tracer/probe/caller_site.hpp"],
    "mpi/datatype": ["base", "comm/matching/layout.hpp", "mpi/object/handle.hpp"],
    "mpi/object": ["base", "mpi/datatype"],
    "mpi/process": ["base", "mpi/table", "mpi/datatype", "mpi/object"],
    "mpi/communicator": COMM + COLLECTIVES + ["mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/check": COMM + ["mpi/table", "mpi/communicator", "mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/point": COMM + ["mpi/check", "mpi/communicator", "mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/collective": COMM + COLLECTIVES + ["mpi/check", "mpi/point", "mpi/communicator", "mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/window": COMM + COLLECTIVES + ["mpi/collective", "mpi/point", "mpi/communicator", "mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/file": COMM + COLLECTIVES + ["mpi/window", "mpi/collective", "mpi/point", "mpi/communicator", "mpi/process", "mpi/datatype", "mpi/object"],
    "mpi/tool": COMM + COLLECTIVES + ["mpi/object"],
    "mpi/api": COMM + COLLECTIVES + ["mpi/table", "mpi/datatype", "mpi/object", "mpi/process", "mpi/communicator", "mpi/check", "mpi/point", "mpi/collective", "mpi/window", "mpi/file", "mpi/tool"],

    "partition_manager/job": BASE,
    "partition_manager/channel": BASE + ["partition_manager/job"],
    "partition_manager/launch": NODE,
    "partition_manager/stdio": NODE,
    "partition_manager/status": NODE,
    "partition_manager/pmi": NODE + ["partition_manager/launch"],
    "partition_manager/home": NODE + ["partition_manager/launch", "partition_manager/stdio",
                                      "partition_manager/status", "tracer/probe"],
    "partition_manager/daemon": NODE + ["partition_manager/launch", "partition_manager/stdio",
                                        "partition_manager/status", "partition_manager/pmi", "tracer/probe",
                                        "partition_manager/sampling/sample_slots.h"],
    "partition_manager/core": ["base"],
    "partition_manager/sampling": BASE + ["tracer/probe"],

    "markerarray": BASE + ["markerarray/client", "terminal", "partition_manager/job", "partition_manager/status"],

    "tracer/read": BASE + ["tracer/probe"],
    "tracer/analysis": BASE + ["tracer/probe", "tracer/read", "terminal"],
    "tracer/profile": BASE + ["tracer/probe", "tracer/read", "tracer/analysis", "terminal"],
    "tracer/diagnosis": BASE + ["tracer/probe", "tracer/read", "tracer/analysis", "tracer/profile", "terminal"],
    "tracer/exchange": BASE + ["tracer/probe", "tracer/read", "tracer/analysis"],
    "tracer/plan": BASE + ["tracer/probe", "tracer/read", "tracer/analysis", "collectives/schedule", "collectives/selection"],
    "tracer/playback": BASE + ["tracer/probe", "tracer/read", "tracer/analysis", "tracer/profile", "tracer/diagnosis", "tracer/exchange", "tracer/plan", "collectives/selection",
                               "terminal",
                               "markerarray"],

    "debugger": BASE + ["partition_manager/job", "partition_manager/channel", "partition_manager/status", "terminal"],

    "poe": BASE + ["partition_manager/job", "partition_manager/launch", "partition_manager/stdio",
                   "partition_manager/status", "partition_manager/home", "markerarray", "terminal", "tracer/read",
                   "comm/api/mpproto.h"],
    "man": ["poe"],
}

# Rooms that consist of rooms: a README.md of their own and no sources.
HALLS = ["comm", "collectives", "mpi", "partition_manager", "tracer"]

# Libraries that only one room uses, or two.
ONE_ROOM = {
    r"<CLI/": ("poe",),
    r"<pmix": ("partition_manager/pmi", "comm/bootstrap"),
    r"<(n?curses|ncursesw)": ("terminal",),
    r"<asio": ("partition_manager",),
    r"<otf2": ("tracer/exchange",),
    r"<elfutils": ("base", "partition_manager/core", "partition_manager/sampling"),
    r"<cairo": ("tracer/playback",),
    r"<zlib": ("tracer/read",),
    r"<rdma/": ("comm",),
    r"<readline/": ("debugger",),
}

INCLUDE = re.compile(r'\s*#\s*include\s*(["<][^">]+)')
# The name of a file in a comment or in a document.
FILE_NAME = re.compile(r"(?<![\w./-])((?:[a-z_0-9]+/)*[a-z][a-z_0-9]*\.(?:hpp|cpp|py))\b")

# A type in a comment: CamelCase with two humps at least. In a document: a CamelCase word in backticks.
TYPE_IN_COMMENT = re.compile(r"(?<![\w`/.])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
TYPE_IN_DOCUMENT = re.compile(r"`((?:[A-Z][a-z0-9]+){2,})`")
MOST_MEMBERS = 25
NO_TYPES = {"AddressSanitizer", "ThreadSanitizer", "NaNs", "PascalCase"}


def tracked(*patterns):
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT,
                           capture_output=True, text=True).stdout.split()
    if not files:  # a source tree without git
        files = [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.rglob(pattern)
                 if "build" not in path.relative_to(ROOT).parts]
    return [name for name in files if (ROOT / name).is_file()]


def room_of(path):
    return max((room for room in ALLOWED if path.startswith(room + "/")), key=len, default=None)


def module_of(path):
    return path.rsplit(".", 1)[0]


def circles(graph):
    """The strongly connected components with more than one module (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            component = stack[stack.index(module):]
            del stack[-len(component):]
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


def check_includes(errors):
    graph = collections.defaultdict(set)
    checked = 0
    for name in tracked("*.cpp", "*.hpp", "*.h", "*.c"):
        room = room_of(name)
        if room is None:
            continue
        checked += 1
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            target = include.group(1)
            for pattern, owners in ONE_ROOM.items():
                if re.match(pattern, target) and not any(room.startswith(owner) for owner in owners):
                    errors.append(f"{name}:{number}: {target[1:]} belongs to {' and '.join(owners)}")
            if not target.startswith('"'):
                continue
            other = room_of(target[1:])
            if other and module_of(target[1:]) != module_of(name):
                graph[module_of(name)].add(module_of(target[1:]))
            if other is None or other == room or other in ALLOWED[room] or target[1:] in ALLOWED[room]:
                continue
            errors.append(f"{name}:{number}: {room} must not include {target[1:]}")
    errors += [f"these modules include each other: {', '.join(circle)}" for circle in circles(graph)]
    return checked


def check_readmes(errors):
    for room in HALLS + [room for room in ALLOWED if "/" in room]:
        if not (ROOT / room / "README.md").is_file():
            errors.append(f"{room}/README.md is missing")
    for name in tracked("*.cpp", "*.hpp"):
        folder = name.rpartition("/")[0]
        if not folder.startswith(("tests", "examples")) and room_of(name) is None:
            errors.append(f"{name}: {folder} is no room of ALLOWED")


def check_names(errors):
    files = tracked("*.cpp", "*.hpp", "*.h", "*.c", "*.py", "*.md")
    # A file is named by its path, or by the end of it.
    known = {name[start:] for name in files for start in [0] + [at + 1 for at, c in enumerate(name) if c == "/"]}
    for name in files:
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if INCLUDE.match(line):
                continue
            if not name.endswith(".md"):
                comment = line.find("#" if name.endswith(".py") else "//")
                if comment < 0:
                    continue
                line = line[comment:]
            for word in FILE_NAME.findall(line):
                if word not in known:
                    errors.append(f"{name}:{number}: there is no file {word}")


def check_types(errors):
    sources = {name: (ROOT / name).read_text().splitlines() for name in tracked("*.cpp", "*.hpp", "*.h", "*.c")}
    known = set(NO_TYPES)
    for lines in sources.values():
        for line in lines:
            known.update(re.findall(r"[A-Za-z_]\w*", line.partition("//")[0]))
    for name, lines in sources.items():
        for number, line in enumerate(lines, 1):
            for word in TYPE_IN_COMMENT.findall(line.partition("//")[2]):
                if word not in known and word.removesuffix("s") not in known:
                    errors.append(f"{name}:{number}: there is no type {word}")
    for name in tracked("*.md"):
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            for word in TYPE_IN_DOCUMENT.findall(line):
                if word not in known:
                    errors.append(f"{name}:{number}: there is no type {word}")


def members_of(body):
    """The private data members that a class body without comments declares; those of inner classes do not count."""
    depth, own = 0, ""
    for piece in re.split(r"([{}])", body):
        depth += (piece == "{") - (piece == "}")
        own += piece if depth == 0 and piece not in "{}" else ""
    plain = re.sub(r"=[^;]*", "", own)
    return re.findall(r"[\w>&*\]]\s+[&*]?(\w+_)(?:\[\w*\])?\s*;", plain)


def check_classes(errors):
    for path in tracked("*.hpp", "*.cpp"):
        if path.startswith("tests/"):
            continue
        text = re.sub(r"//[^\n]*", "", (ROOT / path).read_text())
        for head in re.finditer(r"\b(?:class|struct)\s+(?:alignas\(\w+\)\s+)?(\w+)[^;{()]*\{", text):
            end, depth = head.end(), 1
            while depth > 0 and end < len(text):
                depth += (text[end] == "{") - (text[end] == "}")
                end += 1
            members = members_of(text[head.end():end - 1])
            if len(members) > MOST_MEMBERS:
                errors.append(f"{path}: {head.group(1)} has {len(members)} data members, more than {MOST_MEMBERS}; group them")


def main():
    errors = []
    checked = check_includes(errors)
    check_readmes(errors)
    check_names(errors)
    check_types(errors)
    check_classes(errors)
    print("\n".join(errors) if errors else f"{checked} files, all arrows point down, no circle")
    return 1 if errors or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
