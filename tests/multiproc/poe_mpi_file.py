#!/usr/bin/env python3
"""Files of MPI as users meet them: programs under poe, a full file system, a task that dies in a collective write."""

import os
import pathlib
import subprocess
import tempfile

from launching import BUILD, LaunchTest, POE, clean_environment, main, poe

MPICC = str(BUILD / "bin" / "mpicc.poe")

# Every task writes its block with one kind of call; a task whose call fails prints the class. What a task
# reports as written must be in the file.
FILL = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
    enum { kBytes = 300000 };
    int rank, size, class = 0, length, count = -1;
    char text[MPI_MAX_ERROR_STRING], *block = malloc(kBytes);
    MPI_File file;
    MPI_Status status;
    MPI_Datatype type;
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) return 3;
    memset(block, 'a' + rank, kBytes);
    int code = MPI_SUCCESS;
    if (strcmp(argv[2], "preallocate") == 0) {
        code = MPI_File_preallocate(file, (MPI_Offset)size * kBytes);
        count = 0;
    } else if (strcmp(argv[2], "alone") == 0) {
        code = MPI_File_write_at(file, (MPI_Offset)rank * kBytes, block, kBytes, MPI_CHAR, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
    } else {
        MPI_Type_vector(kBytes / 100, 100, 100 * size, MPI_CHAR, &type);
        MPI_Type_commit(&type);
        MPI_File_set_view(file, 100 * rank, MPI_CHAR, type, "native", MPI_INFO_NULL);
        code = MPI_File_write_all(file, block, kBytes, MPI_CHAR, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    }
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    char* found = malloc(kBytes);
    if (strcmp(argv[2], "alone") == 0) {
        MPI_File_read_at(file, (MPI_Offset)rank * kBytes, found, count, MPI_CHAR, MPI_STATUS_IGNORE);
        if (memcmp(found, block, (size_t)count) != 0) puts("LOST");
    }
    printf("%s %d\n", class == MPI_ERR_NO_SPACE ? "full" : class == 0 ? "written" : text, count == kBytes);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
"""

DIES = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank, size;
    MPI_File file;
    MPI_Datatype type;
    static char block[100000];
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Type_vector(1000, 100, 100 * size, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 100 * rank, MPI_CHAR, type, "native", MPI_INFO_NULL);
    for (int i = 0;; ++i) {
        if (rank == 2 && i == 7) raise(SIGKILL);
        MPI_File_write_all(file, block, sizeof block, MPI_CHAR, MPI_STATUS_IGNORE);
    }
}
"""


class Files(LaunchTest):
    def build(self, source):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        (path / "program.c").write_text(source)
        subprocess.run([MPICC, "-o", "program", "program.c"], cwd=path, check=True, capture_output=True)
        return path

    def fill(self, way, *options):
        """The sorted output of four tasks that write 1.2 MB to a file system of 700 KB."""
        if os.getuid() != 0:
            self.skipTest("needs root, for a file system of its own")
        path = self.build(FILL)
        (path / "small").mkdir()
        script = 'mount -t tmpfs -o size=700k tmpfs "$1" && shift && exec "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", path / "small", POE, path / "program",
                               path / "small" / "file", way, "-procs", "4", *options], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("LOST", done.stdout)
        return sorted(done.stdout.split("\n"))[1:]

    def test_full_file_system_alone(self):
        lines = self.fill("alone")
        self.assertIn("full 0", lines)
        self.assertLessEqual(set(lines), {"full 0", "written 1"})

    def test_full_file_system_collective(self):
        for options in ((), ("-euilib", "ip")):
            self.assertEqual(self.fill("all", *options), ["full 0"] * 4)

    def test_full_file_system_preallocate(self):
        self.assertEqual(self.fill("preallocate"), ["full 0"] * 4)

    def test_task_dies_in_a_collective_write(self):
        path = self.build(DIES)
        for device in ("us", "ip"):
            done = poe(path / "program", path / "file", "-procs", "4", "-euilib", device)
            self.assertEqual(done.returncode, 128 + 9, done.stderr)


if __name__ == "__main__":
    main()
