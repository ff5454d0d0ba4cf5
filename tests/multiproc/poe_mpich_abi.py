#!/usr/bin/env python3
"""Programs that were built with MPICH, unchanged on POE's MPI library (-mpi poe)."""

import collections
import os
import pathlib
import subprocess
import unittest

from launching import BUILD, SOURCE, clean_environment, main, poe
from poe_mpi_watch import Deadlocks, NoDeadlocks, Poestat
from poe_observe import TASKS, Compiled, not_sanitized

HERE = SOURCE / "tests/foreign_abi"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
OURS = BUILD / "lib/poe/mpich_abi/libmpich.so.12"


def names_of(library, *types):
    """The names that a library exports, of these types of symbols."""
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[2] for line in lines if not types or line.split()[1] in types}


def rows_of(table):
    lines = (SOURCE / table).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def printed(compiler, statements):
    """What a program prints that consists of these statements of C."""
    program = "/tmp/poe-foreign-constants-%d" % os.getpid()
    text = "#include <mpi.h>\n#include <stdio.h>\nint main(void) {\n" + statements + "    return 0;\n}\n"
    try:
        subprocess.run([compiler, "-w", "-x", "c", "-", "-o", program], input=text, text=True, check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout
    finally:
        pathlib.Path(program).unlink(missing_ok=True)


# Prints which library the program has got.
WHICH = r"""#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    printf("%.3s\n", text);
    MPI_Finalize();
    return 0;
}
"""


class ForeignTest(Compiled):
    def on_poe(self, program, *arguments, tasks=1, env=None):
        return self.ok(poe(program, *arguments, "-procs", str(tasks), "-mpi", "poe", env=env))

    def assert_all_passed(self, result, tasks):
        """Each task of a program of tests/foreign_abi says that no check has failed."""
        self.assertEqual(sorted(result.stdout.decode().splitlines()),
                         sorted(f"task {i} of {tasks}: 0 checks failed" for i in range(tasks)))
        self.assertEqual(result.stderr, b"")


@not_sanitized
class Programs(ForeignTest):
    """The checks hold with MPICH's own library too, so they are checks of MPI and not of this library."""

    def check(self, name, *arguments, compiler="mpicc", flags=()):
        source = next(HERE.glob(f"{name}.[cf]*"))
        program = self.built(f"/usr/bin/{compiler}.mpich", source, *flags)
        for tasks in (1, 2, 4, 7):
            with self.subTest(name=name, tasks=tasks):
                self.assert_all_passed(self.on_poe(program, *arguments, tasks=tasks), tasks)
        self.assertIn(b"task 1 of 2: 0 checks failed", self.ok(poe(program, *arguments, "-procs", "2")).stdout)
        return program

    def test_point(self):
        self.check("point")

    def test_objects(self):
        self.check("objects")

    def test_constants(self):
        for level in range(4):
            self.check("constants", str(level))

    def test_fortran(self):
        self.check("mpif", compiler="mpif77", flags=("-fallow-argument-mismatch",))
        self.check("module_f08", compiler="mpif90", flags=("-J", self.place.name))

    def test_cpp(self):
        self.check("bindings", compiler="mpicxx")

    def test_files(self):
        for name in ("file_objects", "random_file"):
            program = self.built("/usr/bin/mpicc.mpich", SOURCE / f"tests/mpi/{name}.c", "-w")
            for tasks in (1, 3):
                with self.subTest(name=name, tasks=tasks):
                    self.assertEqual(self.on_poe(program, tasks=tasks).stderr, b"")

    def test_programs_of_mpi_4(self):
        for name in ("partitioned", "sessions", "ports", "tool_variables", "tool_events", "tool_event_types"):
            program = self.built("/usr/bin/mpicc.mpich", SOURCE / f"tests/mpi/{name}.c", "-w", f"-I{SOURCE}/tests/mpi")
            for tasks in (1, 3, 4):
                with self.subTest(name=name, tasks=tasks):
                    self.on_poe(program, tasks=tasks)

    def test_tasks_that_start_tasks(self):
        program = self.built("/usr/bin/mpicc.mpich", SOURCE / "tests/multiproc/mpi_spawn_tasks.c", "-w",
                             f"-I{SOURCE}/tests/mpi", "-lpthread")
        for what in ("use", "several", "errors"):
            with self.subTest(what=what):
                self.on_poe(program, what, tasks=2)

    def test_over_tcp(self):
        for name in ("point", "objects"):
            program = self.built("/usr/bin/mpicc.mpich", HERE / f"{name}.c")
            self.assert_all_passed(self.on_poe(program, tasks=3, env=clean_environment(MP_EUILIB="ip")), 3)

    def test_check_mode(self):
        program = self.built("/usr/bin/mpicc.mpich", HERE / "point.c")
        self.assert_all_passed(self.on_poe(program, tasks=3, env=clean_environment(MP_MPICHECK="yes")), 3)


@not_sanitized
class Choice(ForeignTest):
    """Which library a program gets."""

    def test_own_without_option(self):
        program = self.built("/usr/bin/mpicc.mpich", WHICH)
        for flags in ([], ["-mpi", "own"]):
            self.assertEqual(self.ok(poe(program, "-procs", "1", *flags)).stdout, b"MPI\n")

    def test_every_way_to_find_it(self):
        rpath = "-Wl,-rpath," + os.path.dirname(LIBRARY)
        for flags in ((), (rpath, "-Wl,--enable-new-dtags"), (rpath, "-Wl,--disable-new-dtags"), ("-Wl,-z,now",), ("-no-pie",)):
            with self.subTest(flags):
                program = self.built("/usr/bin/mpicc.mpich", WHICH, *flags)
                result = self.on_poe(program, tasks=2)
                self.assertEqual((result.stdout, result.stderr), (b"POE\n" * 2, b""))
        script = pathlib.Path(self.place.name, "script.sh")
        script.write_text(f"#!/bin/sh\nexec {program}\n")
        script.chmod(0o755)
        self.assertEqual(self.on_poe(str(script), tasks=2).stdout, b"POE\n" * 2)

    def test_upstream_name(self):
        """MPICH itself, Intel MPI and Cray call the library libmpi.so.12."""
        names = ("MPI_Init", "MPI_Get_library_version", "MPI_Finalize")
        upstream = self.built("cc", "".join(f"int {name}(void) {{ return 1; }}\n" for name in names), "-shared", "-fPIC",
                              "-Wl,-soname,libmpi.so.12")
        program = self.built("cc", WHICH, "-I/usr/include/x86_64-linux-gnu/mpich", upstream)
        needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
        self.assertIn("[libmpi.so.12]", needed)
        self.assertNotIn("[libmpich.so.12]", needed)
        self.assertEqual(self.on_poe(program, tasks=2).stdout, b"POE\n" * 2)

    def test_loaded_at_run_time(self):
        """As Python loads it: by its name, with names that only the loading library sees."""
        plugin = self.built("/usr/bin/mpicc.mpich", WHICH.replace("int main(", "int run("), "-shared", "-fPIC")
        program = self.built("cc", """#include <dlfcn.h>
int main(int argc, char **argv) {
    void *loaded = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = loaded != 0 ? (int (*)(int, char **))dlsym(loaded, "run") : 0;
    return run != 0 ? run(argc, argv) : 9;
}
""")
        self.assertEqual(self.on_poe(program, plugin, tasks=2).stdout, b"POE\n" * 2)

    def test_tools(self):
        """A preloaded tool sees each call of C and of Fortran once, and what it calls in turn works."""
        tool = self.built("/usr/bin/mpicc.mpich", r"""#include <mpi.h>
#include <stdio.h>
static int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    ++sends;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}
int MPI_Finalize(void) {
    printf("%d sends\n", sends);
    fflush(stdout);
    return PMPI_Finalize();
}
""", "-shared", "-fPIC")
        send = "    int i, x = 0, rank;\n    MPI_Init(&argc, &argv);\n    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n" \
               "    for (i = 0; i < 3; ++i) {\n        MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);\n" \
               "        MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n    }\n    MPI_Finalize();\n"
        in_c = self.built("/usr/bin/mpicc.mpich", "#include <mpi.h>\nint main(int argc, char **argv) {\n" + send + "    return 0;\n}\n", "-w")
        in_fortran = self.built("/usr/bin/mpif90.mpich", """program sends
    use mpi
    implicit none
    integer :: i, x = 0, rank, ierr
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do i = 1, 3
        call MPI_Send(x, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, ierr)
        call MPI_Recv(x, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Finalize(ierr)
end program
""", "-J", self.place.name)
        for program in (in_c, in_fortran):
            result = self.on_poe(program, tasks=2, env=clean_environment(LD_PRELOAD=tool))
            self.assertEqual(result.stdout, b"3 sends\n" * 2)

    def test_environment_stays(self):
        """LD_LIBRARY_PATH of the user keeps its folders, after that of POE."""
        result = self.on_poe("sh", "-c", 'echo "$LD_LIBRARY_PATH"', env=clean_environment(LD_LIBRARY_PATH="/a:/b"))
        self.assertEqual(result.stdout.decode().strip(), f"{OURS.parent}:{OURS.parent.parent}/openmpi_abi:/a:/b")

    def test_static(self):
        program = self.built("cc", "int main(void) { return 0; }\n", "-static")
        result = self.ok(poe(program, "-procs", "2", "-mpi", "poe"))
        self.assertRegex(result.stderr.decode(), r"\AATTENTION: .* is linked statically, .*\n\Z")

    def test_fatal_error(self):
        program = self.built("/usr/bin/mpicc.mpich", WHICH.replace(
            "MPI_Get_library_version(text, &length);", "MPI_Send(text, 1, MPI_INT, 5, 0, MPI_COMM_WORLD);"))
        result = poe(program, "-procs", "2", "-mpi", "poe")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), r"0032-206 MPI_Send with communicator MPI_COMM_WORLD: argument dest: .*MPI_ERR_RANK")


@not_sanitized
class Exports(unittest.TestCase):
    """Against MPICH's own library and header, as they are installed."""

    def test_names(self):
        """Every name of MPICH's library, except those of its tools and of errors that it makes itself."""
        wanted = {name for name in names_of(LIBRARY) if not name.startswith(("QMPI_", "MPII_Version_", "MPIR_Err_"))}
        self.assertEqual(wanted - names_of(OURS), set())
        functions = {name for name in names_of(OURS, "T", "W") if name.startswith(("MPI_", "PMPI_"))}
        self.assertGreater(len(functions), 1200)
        self.assertEqual({name for name in functions if name.startswith("MPI_") and "P" + name not in functions}, set())

    def test_constants(self):
        """mpich/constants.tsv has the values of the installed header."""
        rows = rows_of("mpi/foreign_abi/mpich/constants.tsv")
        self.assertGreater(len(rows), 250)
        self.assertEqual(printed("/usr/bin/mpicc.mpich", "".join(
            f'    if ((unsigned)(long)({name}) != (unsigned)({value})) printf("{name} is %#lx\\n", (long)({name}));\n'
            for name, value in rows)), "")


@not_sanitized
class Traces(Compiled):
    """A trace holds the same as that of the same program, built with POE's compiler script."""

    def records(self, compiler, env):
        _, trace = self.traced(self.built(compiler, SOURCE / "tests/multiproc/observed_calls.c"), env=env)
        made = {}
        for task in range(TASKS):
            calls = self.calls(trace, task)
            del calls["MPI_Waitsome"]  # depends on time
            ends = collections.Counter((record.kind, record.detail, record.a, record.b, record.extra)
                                       for record in trace.tasks[task].records if record.kind in ("send", "receive"))
            made[task] = calls, ends
        return made

    def test_same_as_native(self):
        native = self.records(str(BUILD / "bin/mpicc.poe"), None)
        self.assertGreater(sum(native[0][1].values()), 20)
        self.assertEqual(self.records("/usr/bin/mpicc.mpich", clean_environment(MP_MPI="poe")), native)

    def test_places(self):
        """Calls are recorded with their places in the program, not in the library between."""
        program = self.built("/usr/bin/mpicc.mpich", SOURCE / "tests/multiproc/observed_calls.c")
        _, trace = self.traced(program, env=clean_environment(MP_MPI="poe"))
        places = {place.rsplit("+", 1)[0] for task in range(TASKS) for place in trace.names(task, 3).values()}
        self.assertEqual(places, {program})


class OnPoe:
    compiler = "/usr/bin/mpicc.mpich"

    def environment(self, **variables):
        return super().environment(MP_MPI="poe", **variables)


@not_sanitized
class MpichDeadlocks(OnPoe, Deadlocks):
    """The same as of a program that was built with our library."""


@not_sanitized
class MpichNoDeadlocks(OnPoe, NoDeadlocks):
    pass


@not_sanitized
class MpichPoestat(OnPoe, Poestat):
    pass


del Compiled, Deadlocks, NoDeadlocks, Poestat

if __name__ == "__main__":
    main()
