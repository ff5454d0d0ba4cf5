#!/usr/bin/env python3
"""Programs that were built with Open MPI, unchanged on POE's MPI library (-mpi poe)."""

import pathlib
import re
import subprocess

from launching import BUILD, SOURCE, clean_environment, main, poe
from poe_mpich_abi import HERE, WHICH, ForeignTest, names_of, printed, rows_of
from poe_observe import TASKS, Compiled, not_sanitized

FOLDER = pathlib.Path("/usr/lib/x86_64-linux-gnu")
LIBRARY = FOLDER / "libmpi.so.40"
OURS = BUILD / "lib/poe/openmpi_abi/libmpi.so.40"
# Programs of tests/mpi that need no more than MPI 3.1.
OF_MPI_3 = ("collective_arguments", "collective_inter", "collective_neighbor", "communicator_inter", "point_blocking",
            "point_requests", "random_point", "topology_all", "window_order", "threads_window")


@not_sanitized
class Programs(ForeignTest):
    def check(self, name, *arguments, compiler="mpicc", flags=(), tasks=(1, 2, 4, 7)):
        source = next(HERE.glob(f"{name}.[cf]*"))
        program = self.built(f"/usr/bin/{compiler}.openmpi", source, *flags)
        for number in tasks:
            with self.subTest(name=name, tasks=number):
                self.assert_all_passed(self.on_poe(program, *arguments, tasks=number), number)
        return program

    def test_point(self):
        program = self.check("point")
        self.assertIn(b"task 1 of 2: 0 checks failed", self.ok(poe(program, "-procs", "2")).stdout)

    def test_objects(self):
        self.check("objects")

    def test_constants(self):
        for level in range(4):
            self.check("constants", str(level), tasks=(1, 3))

    def test_fortran(self):
        self.check("mpif", compiler="mpif77", flags=("-fallow-argument-mismatch",))
        self.check("module_f08", compiler="mpif90", flags=("-J", self.place.name))

    def test_fortran_interfaces(self):
        """The programs of our own library, with each interface."""
        folder = SOURCE / "tests/mpi/fortran"
        for name, interface in (("point", "MPIF_H"), ("point", "MPI"), ("point", "MPI_F08"), ("windows", "MPIF_H"),
                                ("windows", "MPI"), ("collective", "MPI_F08")):
            program = self.built("/usr/bin/mpif90.openmpi", folder / f"{name}.F90", folder / "check.f90", "-w",
                                 f"-DWITH_{interface}", f"-I{folder}", "-J", self.place.name, "-ffree-line-length-none",
                                 "-fallow-argument-mismatch")
            with self.subTest(name=name, interface=interface):
                self.on_poe(program, tasks=3)

    def test_generalized_requests_of_fortran(self):
        source = pathlib.Path(self.place.name, "requests.f90")
        source.write_text("""module functions
    use mpi
    implicit none
    integer :: calls = 0
contains
    subroutine query(extra_state, status, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer :: status(MPI_STATUS_SIZE), ierror
        call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        calls = calls + 1
    end subroutine
    subroutine done(extra_state, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror
        calls = calls + 10
        ierror = MPI_SUCCESS
    end subroutine
    subroutine cancel(extra_state, complete, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror
        ierror = MPI_SUCCESS
    end subroutine
end module
program requests
    use functions
    implicit none
    integer(kind=MPI_ADDRESS_KIND), save :: state = 7
    integer :: request, status(MPI_STATUS_SIZE), n, ierror
    call MPI_Init(ierror)
    call MPI_Grequest_start(query, done, cancel, state, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Get_elements(status, MPI_INTEGER, n, ierror)
    print '(I0, " ", I0, " ", L1)', n, calls, request == MPI_REQUEST_NULL
    call MPI_Finalize(ierror)
end program
""")
        program = self.built("/usr/bin/mpif90.openmpi", source, "-J", self.place.name)
        self.assertEqual(self.on_poe(program).stdout, b"7 11 T\n")

    def test_other_version_of_the_fortran_library(self):
        """A version other than 4.1 may use other members of objects. The first task prints one warning."""
        program = self.built("/usr/bin/mpif90.openmpi", """program waits
    use mpi
    implicit none
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Finalize(ierror)
end program
""")
        self.assertEqual(self.on_poe(program, tasks=2).stderr, b"")
        other = pathlib.Path(self.place.name, "libmpi_mpifh.so.40.20.3")
        other.write_bytes((FOLDER / "libmpi_mpifh.so.40").read_bytes())
        pathlib.Path(self.place.name, "libmpi_mpifh.so.40").symlink_to(other.name)
        result = self.on_poe(program, tasks=2, env=clean_environment(LD_LIBRARY_PATH=self.place.name))
        self.assertRegex(result.stderr.decode(), rf"\AATTENTION: 0032-151 .*{other} is of another one.*\n\Z")

    def test_strings_of_fortran(self):
        """Blanks at both ends do not count."""
        program = self.built("/usr/bin/mpif90.openmpi", """program strings
    use mpi
    implicit none
    integer :: info, ierror
    logical :: flag
    character(len=20) :: text
    call MPI_Init(ierror)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  a key  ', '  a value ', ierror)
    call MPI_Info_get(info, 'a key', 20, text, flag, ierror)
    print '(A, "|", L1)', text, flag
    call MPI_Finalize(ierror)
end program
""")
        self.assertEqual(self.on_poe(program).stdout, b"a value             |T\n")

    def test_cpp(self):
        self.check("bindings", compiler="mpicxx")

    def test_programs_of_mpi_3(self):
        for name in OF_MPI_3:
            program = self.built("/usr/bin/mpicc.openmpi", SOURCE / f"tests/mpi/{name}.c", "-w", f"-I{SOURCE}/tests/mpi")
            for tasks in (1, 3):
                with self.subTest(name=name, tasks=tasks):
                    self.on_poe(program, tasks=tasks)

    def test_files(self):
        for name in ("file_objects", "random_file"):
            program = self.built("/usr/bin/mpicc.openmpi", SOURCE / f"tests/mpi/{name}.c", "-w")
            with self.subTest(name=name):
                self.assertEqual(self.on_poe(program, tasks=3).stderr, b"")

    def test_tasks_that_start_tasks(self):
        program = self.built("/usr/bin/mpicc.openmpi", SOURCE / "tests/multiproc/mpi_spawn_tasks.c", "-w",
                             f"-I{SOURCE}/tests/mpi", "-lpthread")
        for what in ("use", "several", "errors"):
            with self.subTest(what=what):
                self.on_poe(program, what, tasks=2)

    def test_over_tcp(self):
        for name in ("point", "objects"):
            program = self.built("/usr/bin/mpicc.openmpi", HERE / f"{name}.c")
            self.assert_all_passed(self.on_poe(program, tasks=3, env=clean_environment(MP_EUILIB="ip")), 3)

    def test_check_mode(self):
        program = self.built("/usr/bin/mpicc.openmpi", HERE / "point.c")
        self.assert_all_passed(self.on_poe(program, tasks=3, env=clean_environment(MP_MPICHECK="yes")), 3)

    def test_persistent_collective_calls(self):
        """Before MPI 4, they have names of their own."""
        program = self.built("/usr/bin/mpicc.openmpi", r"""#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%d\n", sum);
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
""")
        self.assertEqual(self.on_poe(program, tasks=3).stdout, b"3\n" * 6)

    def test_short_strings(self):
        """Names and messages of ours that do not fit are cut."""
        program = self.built("/usr/bin/mpicc.openmpi", r"""#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char name[130], found[2 * MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    memset(name, 'n', sizeof name);
    name[100] = 0;
    memset(found, '#', sizeof found);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_name(comm, name);
    MPI_Comm_get_name(comm, found, &length);
    printf("%d %d %c\n", length, (int)strlen(found), found[MPI_MAX_OBJECT_NAME]);
    MPI_Finalize();
    return 0;
}
""")
        self.assertEqual(self.on_poe(program).stdout, b"63 63 #\n")


@not_sanitized
class Choice(ForeignTest):
    """Which library a program gets."""

    def test_own_without_option(self):
        # The version may be asked for without MPI_Init.
        program = self.built("/usr/bin/mpicc.openmpi", re.sub(r"MPI_(Init|Finalize)\(.*?\);", "", WHICH))
        for flags in ([], ["-mpi", "own"]):
            self.assertEqual(self.ok(poe(program, "-procs", "1", *flags)).stdout, b"Ope\n")

    def test_every_way_to_find_it(self):
        """Without position-independent code, a program has copies of the library's variables."""
        rpath = f"-Wl,-rpath,{FOLDER}"
        for flags in ((), (rpath, "-Wl,--enable-new-dtags"), (rpath, "-Wl,--disable-new-dtags"), ("-Wl,-z,now",),
                      ("-no-pie", "-fno-pic")):
            with self.subTest(flags):
                program = self.built("/usr/bin/mpicc.openmpi", WHICH, *flags)
                result = self.on_poe(program, tasks=2)
                self.assertEqual((result.stdout, result.stderr), (b"POE\n" * 2, b""))
        script = pathlib.Path(self.place.name, "script.sh")
        script.write_text(f"#!/bin/sh\nexec {program}\n")
        script.chmod(0o755)
        self.assertEqual(self.on_poe(str(script), tasks=2).stdout, b"POE\n" * 2)

    def test_without_position_independent_code(self):
        program = self.built("/usr/bin/mpicc.openmpi", HERE / "objects.c", "-no-pie", "-fno-pic")
        self.assert_all_passed(self.on_poe(program, tasks=3), 3)

    def test_both_libraries_in_one_job(self):
        """A command file may name programs of MPICH and of Open MPI."""
        programs = [self.built(f"/usr/bin/mpicc.{mpi}", WHICH) for mpi in ("mpich", "openmpi")]
        commands = pathlib.Path(self.place.name, "commands")
        commands.write_text("".join(f"{program}\n" for program in programs))
        result = self.ok(poe("-procs", "2", "-pgmmodel", "mpmd", "-cmdfile", str(commands), "-mpi", "poe"))
        self.assertEqual(result.stdout, b"POE\n" * 2)

    def test_tools(self):
        """A preloaded tool sees each call of C and of Fortran once, and what it calls in turn works."""
        tool = self.built("/usr/bin/mpicc.openmpi", r"""#include <mpi.h>
#include <stdio.h>
static int barriers;
int MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}
int MPI_Finalize(void) {
    printf("%d barriers\n", barriers);
    fflush(stdout);
    return PMPI_Finalize();
}
""", "-shared", "-fPIC")
        program = self.built("/usr/bin/mpicc.openmpi", """#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
""")
        result = self.on_poe(program, tasks=2, env=clean_environment(LD_PRELOAD=tool))
        self.assertEqual(result.stdout, b"2 barriers\n" * 2)

    def test_other_version(self):
        """Open MPI 1 has another library, whose name is that of MPICH's."""
        old = self.built("cc", "char ompi_mpi_comm_world[512]; int MPI_Init(void *a, void *b) { return 0; }\n", "-shared",
                         "-fPIC", "-Wl,-soname,libmpi.so.12")
        program = self.built("cc", """extern char ompi_mpi_comm_world[];
int MPI_Init(void *a, void *b);
int main(void) { return MPI_Init(0, ompi_mpi_comm_world) + ompi_mpi_comm_world[0]; }
""", old, f"-Wl,-rpath,{self.place.name}")
        pathlib.Path(self.place.name, "libmpi.so.12").symlink_to(old)
        result = self.ok(poe(program, "-procs", "1", "-mpi", "poe"))
        self.assertRegex(result.stderr.decode(), rf"\AATTENTION: .*{program} was built with Open MPI, but not with version 4 or 5")

    def test_fatal_error(self):
        program = self.built("/usr/bin/mpicc.openmpi", WHICH.replace(
            "MPI_Get_library_version(text, &length);", "MPI_Send(text, 1, MPI_INT, 5, 0, MPI_COMM_WORLD);"))
        result = poe(program, "-procs", "2", "-mpi", "poe")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), r"0032-206 MPI_Send with communicator MPI_COMM_WORLD: argument dest: .*MPI_ERR_RANK")


@not_sanitized
class Exports(ForeignTest):
    """Against Open MPI's own library and header, as they are installed."""

    def test_names(self):
        """Every name of MPI, and all that Open MPI's libraries for Fortran and C++ need."""
        wanted = {name for name in names_of(LIBRARY) if re.match(r"P?MPIX?_[A-Z][a-z]|OMPI_C_", name)}
        self.assertGreater(len(wanted), 800)
        self.assertEqual(wanted - names_of(OURS), set())
        libraries = [FOLDER / f"lib{name}.so.40" for name in ("mpi_mpifh", "mpi_usempif08", "mpi_usempi_ignore_tkr", "mpi_cxx")]
        there = names_of(OURS).union(names_of(FOLDER / "libopen-pal.so.40"), *map(names_of, libraries))
        for library in libraries:
            lines = subprocess.run(["nm", "-D", "--undefined-only", str(library)], check=True, capture_output=True,
                                   text=True).stdout.splitlines()
            needed = {line.split()[-1] for line in lines if line.split()[0] == "U" and "@" not in line}
            self.assertEqual(needed - there, set(), library)

    def test_objects(self):
        """Each predefined object has the size that programs with copies of it know."""
        def sizes(library):
            lines = subprocess.run(["nm", "-D", "-S", "--defined-only", str(library)], check=True, capture_output=True,
                                   text=True).stdout.splitlines()
            return {words[3]: int(words[1], 16) for words in map(str.split, lines) if len(words) == 4}
        theirs, ours = sizes(LIBRARY), sizes(OURS)
        rows = rows_of("mpi/foreign_abi/openmpi/objects.tsv")
        self.assertGreater(len(rows), 100)
        self.assertEqual({row[1]: ours[row[1]] for row in rows}, {row[1]: theirs[row[1]] for row in rows})
        self.assertEqual(printed("/usr/bin/mpicc.openmpi", "    MPI_Init(0, 0);\n" + "".join(
            f'#ifdef {name}\n    if ((void *){name} != (void *)&{symbol}) printf("{name} is not {symbol}\\n");\n'
            f'    if (MPI_{kind}_c2f({name}) != {number}) printf("{name} is not {number} in Fortran\\n");\n#endif\n'
            for name, symbol, number in rows if name.startswith("MPI_") and number != "-"
            for kind in [kind_of(name)] if kind) + "    MPI_Finalize();\n"), "")

    def test_constants(self):
        """openmpi/constants.tsv has the values of the installed header."""
        rows = rows_of("mpi/foreign_abi/openmpi/constants.tsv")
        self.assertGreater(len(rows), 200)
        self.assertEqual(printed("/usr/bin/mpicc.openmpi", "".join(
            f'    if ((long)({name}) != (long)({value})) printf("{name} is %#lx\\n", (long)({name}));\n'
            for name, value in rows)), "")


def kind_of(name):
    """The kind in the name of MPI_X_c2f of a predefined handle."""
    kinds = dict(line.split("\t")[::2] for line in (SOURCE / "mpi/table/constants.tsv").read_text().splitlines()
                 if line.startswith("MPI_"))
    kind = kinds[name].removeprefix("handle (MPI_").removesuffix(")")
    return {"Datatype": "Type"}.get(kind, kind)


@not_sanitized
class Traces(Compiled):
    """Calls are recorded with their places in the program, not in the library between."""

    def test_places(self):
        program = self.built("/usr/bin/mpicc.openmpi", SOURCE / "tests/multiproc/observed_calls.c")
        _, trace = self.traced(program, env=clean_environment(MP_MPI="poe"))
        places = {place.rsplit("+", 1)[0] for task in range(TASKS) for place in trace.names(task, 3).values()}
        self.assertEqual(places, {program})


del Compiled, ForeignTest

if __name__ == "__main__":
    main()
