#!/usr/bin/env python3
"""Knowledge flows one way: fails on an #include that points up, or on a dependency that has left
its room. The arrows are those of ARCHITECTURE.md."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A folder may include from itself and from what is listed (longest match first).
ALLOWED = {
    "comm/base": [],
    "comm": ["comm/base", "tracer/probe", "markerarray/client"],
    "collectives": ["comm", "comm/base", "tracer/probe"],
    "mpi": ["collectives", "comm", "comm/base"],
    "markerarray": ["comm/base", "partition_manager", "tracer/probe"],
    "tracer/probe": ["comm/base"],
    "tracer": ["comm/base", "tracer/probe", "markerarray", "partition_manager"],
    "partition_manager": ["comm/base", "tracer/probe"],
    "poe": ["partition_manager", "comm/base", "comm/mpproto.h", "markerarray", "tracer"],
    "man": ["poe"],
}

# Libraries that one room only knows, or two.
ONE_ROOM = {
    r"<CLI/": "poe",
    r"<pmix": ("partition_manager", "comm"),
    r"<(n?curses|ncursesw)": "markerarray",
    r"<asio": "partition_manager",
    r"<otf2": "tracer",
    r"<elfutils": ("partition_manager", "tracer"),
    r"<rdma/": "comm",
}


def room_of(path):
    names = [room for room in ALLOWED if path == room or path.startswith(room + "/")]
    return max(names, key=len, default=None)


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp", "*.h"], cwd=ROOT,
                           capture_output=True, text=True).stdout.split()
    if not files:  # a source tree without git
        files = [str(p.relative_to(ROOT)) for s in ("*.cpp", "*.hpp", "*.h") for p in ROOT.rglob(s)
                 if "build" not in p.relative_to(ROOT).parts]
    errors = []
    checked = 0
    for name in files:
        room = room_of(name)
        if room is None:
            continue
        checked += 1
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*(["<][^">]+)', line)
            if not include:
                continue
            target = include.group(1)
            for pattern, owner in ONE_ROOM.items():
                if re.match(pattern, target) and not room.startswith(owner):
                    errors.append(f"{name}:{number}: {target[1:]} belongs to room {owner}")
            other = room_of(target[1:]) if target.startswith('"') else None
            if other is None or other == room:
                continue
            if not any(target[1:].startswith(allowed) for allowed in ALLOWED[room]):
                errors.append(f"{name}:{number}: {room} must not include {target[1:]}")
    print("\n".join(errors) if errors else f"{checked} files, all arrows point down")
    return 1 if errors or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
