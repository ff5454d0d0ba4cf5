"""Collective accesses to files for mpi_bench: blocks of many tasks that interleave, written and read by MPI_File_write_at_all
and MPI_File_read_at_all. The file is in memory, so that no disk is measured."""

import os
import tempfile

from measuring import in_turns, output_of, ratio, scaled, table, text
from mpi_jobs_bench import PEERS, build, command
from results import row

BYTES, REPETITIONS, LAUNCHES = 1 << 20, 3, 3
# Seconds after which a job counts as one that did not finish.
PATIENCE = 40
BLOCKS = {16: "16 B", 256: "256 B", 4096: "4 KB", 65536: "64 KB", BYTES: "contiguous"}
NOT_SLOWER = 1.0


def times_of(library, tasks, program, block, folder):
    """The seconds of a write and of a read; None if the job did not finish or its data were wrong."""
    path = os.path.join(folder, "file")
    out = output_of(command(library, tasks, program, path, str(block), str(BYTES), str(REPETITIONS)), PATIENCE)
    words = (out or "").split()
    return [float(word) for word in words] if len(words) == 2 else None


def files(tasks):
    built, rows, results, shown = build("mpi_file_bench.c", "mpi_file"), [], {}, []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for block, title in BLOCKS.items():
            found = {}

            def run(library, block=block, found=found):
                times = times_of(library, tasks, built[library], block, folder)
                if times is None:
                    return None
                found.setdefault(library, []).append(times)
                return times[0]

            in_turns(scaled(LAUNCHES), {library: lambda library=library: run(library) for library in built})
            results[title] = found
            for number, what in enumerate(("write", "read")):
                best = {library: min((times[number] for times in found.get(library, [])), default=None) for library in built}
                late = [peer for peer in PEERS if best[peer] is None]
                note = f" ({' and '.join(late)} did not finish in {PATIENCE} s)" if late else ""
                scaled_to_ms = {library: value and 1e3 * value for library, value in best.items()}
                rows.append(row(f"collective {what}, {title}, {tasks} tasks, 1 MB each, ms{note}", scaled_to_ms["POE"],
                                {peer: scaled_to_ms[peer] for peer in PEERS}, NOT_SLOWER))
                shown.append([what, title, *(text(value) for value in scaled_to_ms.values()),
                              text(ratio(best["POE"], *(best[peer] for peer in PEERS)))])
    table(f"collective accesses of {tasks} tasks to a file in memory, ms", ["", "blocks", *built, "POE/best"], shown)
    return rows, results
