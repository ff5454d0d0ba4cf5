#!/usr/bin/env python3
"""How people meet MPI: the compiler scripts, mpiexec, programs under poe and alone, and what they link."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from launching import BUILD, DEADLINE, EXAMPLES, SANITIZED, SOURCE, LaunchTest, clean_environment, install_for, main, poe, start, wait_for

MPICC = str(BUILD / "bin" / "mpicc.poe")
MPIEXEC = str(BUILD / "bin" / "mpiexec.poe")
POESTAT = str(BUILD / "bin" / "poestat")

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%s: %d of %d\n", argc > 1 ? argv[1] : "hello", rank, size);
    MPI_Finalize();
    return 0;
}
"""

MIXED = r"""
#include <mpi.h>
#include <mpproto.h>
#include <stdio.h>
int main(void) {
    int rank, size, me, tasks, source = 0, type = 5, bytes, got = -1;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mpc_environ(&tasks, &me);
    if (me == 0) mpc_bsend(&rank, sizeof rank, 1, 5);
    if (me == 1) mpc_brecv(&got, sizeof got, &source, &type, &bytes);
    printf("%d %d\n", rank == me && size == tasks, got);
    MPI_Finalize();
    return 0;
}
"""

# Calls of both libraries on all tasks, in turn, short and long, blocking and not.
MIXED_COLLECTIVES = r"""
#include <mpi.h>
#include <mpproto.h>
#include <stdio.h>
#include <string.h>
#define LONGEST 40000
static double mine[LONGEST], of_mpi[LONGEST], of_mpl[LONGEST];
int main(void) {
    int rank, size, wrong = 0, lengths[] = {1, 7, 100, LONGEST};
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 40; ++round) {
        const int length = lengths[round % 4], bytes = length * (int)sizeof(double), root = round % size;
        int id = 0;
        MPI_Request request;
        for (int i = 0; i < length; ++i) of_mpi[i] = of_mpl[i] = mine[i] = rank * 1000 + i % 100 + round;
        MPI_Bcast(of_mpi, length, MPI_DOUBLE, root, MPI_COMM_WORLD);
        mpc_bcast(of_mpl, bytes, root, ALLGRP);
        wrong += memcmp(of_mpi, of_mpl, bytes) != 0 || of_mpi[0] != root * 1000 + round;
        mpc_combine(mine, of_mpl, bytes, d_vadd, ALLGRP);
        MPI_Allreduce(mine, of_mpi, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong += memcmp(of_mpi, of_mpl, bytes) != 0;
        mpc_sync(ALLGRP);
        MPI_Barrier(MPI_COMM_WORLD);
        memcpy(of_mpi, mine, bytes);
        memcpy(of_mpl, mine, bytes);
        mpc_ibcast(of_mpl, bytes, root, ALLGRP, &id);
        MPI_Ibcast(of_mpi, length, MPI_DOUBLE, root, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mpc_collwait(&id);
        wrong += memcmp(of_mpi, of_mpl, bytes) != 0 || of_mpi[0] != root * 1000 + round;
    }
    printf("%d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""

# Three messages of each task to itself that no receive is posted for.
UNEXPECTED = r"""
#include <mpi.h>
int main(int argc, char** argv) {
    int rank;
    char data[3][10] = {{0}};
    MPI_Request sends[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; ++i) MPI_Isend(data[i], 10, MPI_CHAR, rank, i, MPI_COMM_WORLD, &sends[i]);
    for (int i = 0; i < 3; ++i) MPI_Recv(data[i], 10, MPI_CHAR, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
"""

# Task 1 makes no call while a message arrives that it has not asked for, so only the progress thread can raise the event. It
# makes a file when its calls before are over.
PROGRESS_EVENT = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_int seen;
static int safety, is_other_thread;
static pthread_t own;
static void see(MPI_T_event_instance event, MPI_T_event_registration handle, MPI_T_cb_safety level, void* data) {
    int internal;
    MPI_T_event_read(event, 3, &internal);
    if (internal || atomic_load(&seen)) return;
    safety = level;
    is_other_thread = !pthread_equal(pthread_self(), own);
    atomic_store(&seen, 1);
}
int main(int argc, char** argv) {
    int rank, provided, type;
    char data = 0;
    MPI_Request request;
    MPI_T_event_registration handle;
    own = pthread_self();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_event_get_index("message_unexpected", &type);
    MPI_T_event_handle_alloc(type, NULL, MPI_INFO_NULL, &handle);
    MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, see);
    if (rank == 0) {
        while (access(argv[1], F_OK) != 0) usleep(1000);
        usleep(100000); /* The thread has looked for messages, and found none. */
        MPI_Send(&data, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Send(&data, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&data, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &request);
        fclose(fopen(argv[1], "w"));
        while (!atomic_load(&seen)) usleep(1000);
        printf("%d %d\n", is_other_thread, safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(&data, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
"""

# Task 1 computes until task 0 has sent a long message for which it has posted a receive before.
PROGRESS_LONG = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
enum { LENGTH = 10000000 };
static char data[LENGTH];
static void make(const char* folder, const char* file) {
    chdir(folder);
    fclose(fopen(file, "w"));
}
static void compute_until(const char* folder, const char* file) {
    chdir(folder);
    while (access(file, F_OK) != 0) continue;
}
int main(int argc, char** argv) {
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        compute_until(argv[1], "computes");
        usleep(100000); /* The thread has looked for messages, and found none. */
        data[LENGTH - 1] = 5;
        MPI_Send(data, LENGTH, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
        make(argv[1], "sent");
    } else {
        MPI_Irecv(data, LENGTH, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &request);
        make(argv[1], "computes");
        compute_until(argv[1], "sent");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%d\n", data[LENGTH - 1]);
    }
    MPI_Finalize();
    return 0;
}
"""

# The same for a non-blocking collective call: task 0 cannot end its call while nobody moves the blocks of task 1.
PROGRESS_COLLECTIVE = PROGRESS_LONG.replace("MPI_Send(data, LENGTH, MPI_CHAR, 1, 3, MPI_COMM_WORLD);", """
        MPI_Ialltoall(data, LENGTH / 2, MPI_CHAR, result, LENGTH / 2, MPI_CHAR, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);""").replace("MPI_Irecv(data, LENGTH, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &request);", """
        MPI_Ialltoall(data, LENGTH / 2, MPI_CHAR, result, LENGTH / 2, MPI_CHAR, MPI_COMM_WORLD, &request);""").replace(
    "data[LENGTH - 1]);", "result[LENGTH / 2 - 1]);").replace("static char data[LENGTH];", "static char data[LENGTH], result[LENGTH];")

# A thread of each task waits for a message of the other task, which only the main threads send.
THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static int rank;
static void* receive(void* argument) {
    int data = -1;
    MPI_Recv(&data, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return data == 1 - rank ? argument : NULL;
}
int main(int argc, char** argv) {
    int level;
    void* result;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, receive, &level);
    if (rank == 1) pthread_join(thread, &result);
    if (rank == 0) getchar();
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD);
    if (rank == 0) pthread_join(thread, &result);
    printf("%d\n", level == MPI_THREAD_MULTIPLE && result == &level);
    MPI_Finalize();
    return 0;
}
"""


def run(*words, **options):
    options.setdefault("env", clean_environment())
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, **options)


class MpiTest(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, source, name="program", *flags, compiler=MPICC):
        file = self.folder / f"{name}.c"
        file.write_text(source)
        result = run(compiler, str(file), "-o", str(self.folder / name), *flags)
        # The linker warns of functions of the C library that static programs should not call.
        self.assertEqual((result.returncode, "" if "-static" in flags else result.stderr), (0, ""))
        return str(self.folder / name)


class Compilers(MpiTest):
    def test_what_they_show(self):
        shown = run(MPICC, "-show", "a.c").stdout
        self.assertRegex(shown, r"^cc .*-I\S+/poe-mpi a\.c -L\S+ -Wl,-rpath,\S+ -lmpi_abi$")
        self.assertRegex(run(MPICC, "-showme:compile").stdout, r"^-I\S+/poe-mpi$")
        self.assertRegex(run(MPICC, "-showme:link").stdout, r"^-L\S+ -Wl,-rpath,\S+ -lmpi_abi$")
        self.assertIn("-lmpi_abi", run(MPICC, "-link_info").stdout)
        self.assertNotIn("-lmpi_abi", run(MPICC, "-compile_info").stdout)
        self.assertNotIn("-lmpi_abi", run(MPICC, "-show", "-c", "a.c").stdout)
        self.assertIn("POE", run(MPICC, "--version").stdout)
        self.assertEqual(run(MPICC, "-v").returncode, 0)
        self.assertEqual(run(MPICC).returncode, 2)

    def test_usual_names_lie_apart(self):
        place = BUILD / "lib" / "poe" / "mpi" / "bin"
        self.assertEqual(sorted(file.name for file in place.iterdir()), ["mpiCC", "mpic++", "mpicc", "mpicxx", "mpiexec", "mpif77", "mpif90", "mpifort", "mpirun"])
        program = self.compile(HELLO, compiler=str(place / "mpicc"))
        for name in ("mpiexec", "mpirun"):
            self.assertEqual(run(str(place / name), "-np", "1", program).stdout, "hello: 0 of 1\n", name)

    def test_cxx(self):
        file = self.folder / "program.cpp"
        file.write_text(HELLO)
        for name in ("mpicxx", "mpic++", "mpiCC"):
            result = run(str(BUILD / "bin" / f"{name}.poe"), str(file), "-o", str(self.folder / name))
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)
            self.ok(poe(str(self.folder / name), "-procs", "2"))

    def test_static(self):
        if SANITIZED:
            self.skipTest("sanitizers cannot be linked statically")
        program = self.compile(HELLO, "program", "-static")
        out = self.ok(poe(program, "-procs", "3")).stdout
        self.assertEqual(sorted(out.splitlines()), [b"hello: %d of 3" % i for i in range(3)])


class ProgramsOfOthers(MpiTest):
    """A program that was built for libmpi_abi.so.1 with another library, which it names in the way that `flags` say."""

    # Any library of the soname stands for another MPI.
    OTHER = r"""
    #include <stdio.h>
    #include <stdlib.h>
    int MPI_Init(int* argc, char*** argv) { printf("the other library\n"); fflush(stdout); exit(3); }
    int MPI_Comm_rank(void* comm, int* rank) { return 0; }
    int MPI_Comm_size(void* comm, int* size) { return 0; }
    int MPI_Finalize(void) { return 0; }
    """

    def build(self, *flags):
        other = self.folder / "other"
        other.mkdir(exist_ok=True)
        (other / "other.c").write_text(self.OTHER)
        library = other / "libmpi_abi.so.1"
        done = run("cc", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1", str(other / "other.c"), "-o", str(library))
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "hello.c").write_text(HELLO)
        program = str(self.folder / "hello")
        include = re.search(r"-I\S+", run(MPICC, "-showme:compile").stdout)[0]
        done = run("cc", include, str(self.folder / "hello.c"), "-o", program, str(library), *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def test_they_get_our_library(self):
        if SANITIZED:
            self.skipTest("a sanitizer's runtime must be loaded first")
        other = self.folder / "other"
        expected = [b"hello: %d of 2" % i for i in range(2)]
        for flags, told in (["-Wl,--enable-new-dtags", f"-Wl,-rpath,{other}"], False), ([], False), \
                (["-Wl,--disable-new-dtags", f"-Wl,-rpath,{other}"], True), \
                (["-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/other"], True):
            with self.subTest(flags):
                program = self.build(*flags)
                result = self.ok(poe(program, "-procs", "2"))
                self.assertEqual(sorted(result.stdout.splitlines()), expected)
                if told:
                    self.assertRegex(result.stderr.decode(), rf"\AATTENTION: .*{program} names another MPI library in its "
                                                             rf"DT_RPATH, {other}/libmpi_abi.so.1; it gets that of poe instead.*\n\Z")
                else:
                    self.assertEqual(result.stderr, b"")

    def test_their_own_on_request(self):
        program = self.build("-Wl,--disable-new-dtags", f"-Wl,-rpath,{self.folder / 'other'}")
        result = poe(program, "-procs", "1", "-mpi_library", "program")
        self.assertEqual((result.stdout, result.returncode), (b"the other library\n", 3), result.stderr)

    def test_what_else_is_preloaded_stays(self):
        if SANITIZED:
            self.skipTest("a sanitizer's runtime must be loaded first")
        program = self.build()
        (self.folder / "said.c").write_text('#include <unistd.h>\n__attribute__((constructor)) static void say(void) '
                                            '{ write(1, "preloaded\\n", 10); }\n')
        said = str(self.folder / "said.so")
        done = run("cc", "-shared", "-fPIC", str(self.folder / "said.c"), "-o", said)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = self.ok(poe(program, "-procs", "1", env=clean_environment(MP_UNBUFFERED="yes", LD_PRELOAD=said)))
        self.assertIn(b"preloaded\n", result.stdout)
        self.assertIn(b"hello: 0 of 1\n", result.stdout)


class Installed(MpiTest):
    """Build systems find an installed copy by the compiler script or by pkg-config."""

    def setUp(self):
        super().setUp()
        self.prefix = install_for(self)

    def test_cmake(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "hello.c").write_text(HELLO)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(hello C)\nfind_package(MPI REQUIRED COMPONENTS C)\n"
            "add_executable(hello hello.c)\ntarget_link_libraries(hello PRIVATE MPI::MPI_C)\n")
        build = project / "build"
        done = run("cmake", "-S", str(project), "-B", str(build), f"-DMPI_HOME={self.prefix}/lib/poe/mpi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.prefix}/lib/libmpi_abi.so", done.stdout)
        self.assertEqual(run("cmake", "--build", str(build)).returncode, 0)
        done = run(str(self.prefix / "bin" / "mpiexec.poe"), "-n", "2", str(build / "hello"))
        self.assertEqual(sorted(done.stdout.splitlines()), ["hello: 0 of 2", "hello: 1 of 2"], done.stderr)

    def test_pkg_config(self):
        found = run("pkg-config", "--cflags", "--libs", "mpi-c",
                    env=clean_environment(PKG_CONFIG_PATH=f"{self.prefix}/lib/poe/mpi/pkgconfig"))
        self.assertEqual(found.returncode, 0, found.stderr)
        (self.folder / "hello.c").write_text(HELLO)
        program = str(self.folder / "hello")
        done = run("cc", str(self.folder / "hello.c"), "-o", program, *found.stdout.split())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run(program).stdout, "hello: 0 of 1\n")


class Programs(MpiTest):
    def test_under_poe_and_alone(self):
        program = self.compile(HELLO)
        for n in (1, 2, 5):
            out = self.ok(poe(program, "-procs", str(n))).stdout
            self.assertEqual(sorted(out.splitlines()), [b"hello: %d of %d" % (i, n) for i in range(n)])
        self.assertEqual(run(program).stdout, "hello: 0 of 1\n")

    def test_with_mpl(self):
        program = self.compile(MIXED, "program", f"-I{BUILD}/include", f"-L{BUILD}/lib", "-lmpl")
        out = self.ok(poe(program, "-procs", "2", "-stdoutmode", "ordered")).stdout
        self.assertEqual(out, b"1 -1\n1 0\n")

    def test_collective_calls_with_those_of_mpl(self):
        program = self.compile(MIXED_COLLECTIVES, "program", f"-I{BUILD}/include", f"-L{BUILD}/lib", "-lmpl")
        for flags in (["-procs", "2"], ["-procs", "5"], ["-procs", "3", "-euilib", "ip"]):
            out = self.ok(poe(program, *flags)).stdout
            self.assertEqual(set(out.split()), {b"0"}, flags)

    def test_the_example(self):
        for n in (1, 3, 4):
            out = self.ok(poe(str(EXAMPLES / "cg"), "64", "-procs", str(n))).stdout.decode()
            found = re.fullmatch(r"64 x 64 unknowns on \d x \d tasks: (\d+) steps, \S+ s, error (\S+)\n", out)
            self.assertTrue(found, out)
            self.assertLess(float(found[2]), 1e-12)

    def test_the_tool_of_the_manual(self):
        page = (SOURCE / "man/poe-mpi.7").read_text()
        (tool,) = re.findall(r"\.EX\n(#include <mpi.h>.*?)\.EE\n", page, re.S)
        file = self.folder / "tool.c"
        file.write_text(tool.replace("\\e", "\\"))
        program = self.compile(UNEXPECTED, "counted", "-Wall", "-Werror", str(file))
        result = poe(program, "-procs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(result.stderr.decode().splitlines()),
                         [f"task {rank}: 3 unexpected messages, 30 bytes" for rank in range(2)])


class Mpiexec(MpiTest):
    def test_arguments(self):
        program = self.compile(HELLO)
        self.assertEqual(sorted(run(MPIEXEC, "-n", "3", program, "it is").stdout.splitlines()),
                         [f"it is: {i} of 3" for i in range(3)])
        parts = run(MPIEXEC, "-n", "1", program, "a", ":", "-n", "2", program, "b").stdout
        self.assertEqual(sorted(parts.splitlines()), ["a: 0 of 3", "b: 1 of 3", "b: 2 of 3"])
        self.assertEqual(len(run(MPIEXEC, "-soft", "1,2:6:2", program).stdout.splitlines()), 6)
        self.assertEqual(run(MPIEXEC, "-path", str(self.folder), "program").stdout, "hello: 0 of 1\n")
        shown = run(MPIEXEC, "-n", "2", "-wdir", str(self.folder), "pwd").stdout
        self.assertEqual(shown, f"{self.folder}\n" * 2)
        labelled = run(MPIEXEC, "-n", "2", "-labelio", "yes", program).stdout
        self.assertEqual(sorted(labelled.splitlines()), ["   0:hello: 0 of 2", "   1:hello: 1 of 2"])

    def test_a_file(self):
        program = self.compile(HELLO)
        file = self.folder / "job"
        file.write_text(f"# two parts\n-n 1 {program} 'one two'\n\n-n 2 {program} b\n")
        self.assertEqual(sorted(run(MPIEXEC, "-file", str(file)).stdout.splitlines()),
                         ["b: 1 of 3", "b: 2 of 3", "one two: 0 of 3"])
        self.assertEqual(run(MPIEXEC, "-file", "/no/such/file").returncode, 2)

    def test_hosts(self):
        program = self.compile(HELLO)
        result = run(MPIEXEC, "-n", "2", "-host", "localhost", program)
        self.assertEqual(sorted(result.stdout.splitlines()), ["hello: 0 of 2", "hello: 1 of 2"], result.stderr)

    def test_mistakes(self):
        for words in ([], ["-n"], ["-n", "0", "true"], ["-n", "x", "true"], ["-soft", "a", "true"], ["-n", "2"],
                      ["true", ":"], ["-arch", "x", "true"]):
            result = run(MPIEXEC, *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn("mpiexec", result.stderr)

    def test_the_status_is_that_of_the_job(self):
        self.assertEqual(run(MPIEXEC, "-n", "2", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(run(MPIEXEC, "-n", "2", "-host", "localhost", "sh", "-c", "exit 7").returncode, 7)


class Errors(MpiTest):
    def test_fatal(self):
        program = self.compile("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Comm c;"
                               "MPI_Comm_dup(MPI_COMM_NULL, &c); MPI_Finalize(); return 0; }")
        for tasks, named in (1, "task 0"), (4, "tasks 0-3"):
            result = poe(program, "-procs", str(tasks))
            self.assertEqual(result.returncode, 5)
            # One message, although all tasks make the mistake. A task that poe ends first is not named.
            self.assertRegex(result.stderr.decode(),
                             rf"\AERROR: 0031-252  ({named}|tasks? [0-3,-]+) \(node .*\) ended the job because of an MPI error, .*\n"
                             r" +0032-205 MPI_Comm_dup: argument comm: .*MPI_COMM_NULL.*\n"
                             r"( +tasks? [0-3,-]+ ended by poe \(SIGTERM\)\n)?\Z")
        # Alone, the task prints the message itself.
        alone = run(program)
        self.assertEqual(alone.returncode, 5)
        self.assertRegex(alone.stderr, r"\AERROR: 0032-205 MPI_Comm_dup in task 0 on node .*MPI_COMM_NULL.*\n\Z")

    def test_wrong_variables_of_collective_calls(self):
        # They are reported although the program makes no such call.
        program = self.compile(HELLO)
        for name, value in (("MP_COLL_BCAST", "chian"), ("MP_COLL_COMBINE", "radix:x")):
            with self.subTest(name=name):
                result = poe(program, "-procs", "2", env={name: value})
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(result.stdout, b"")
                self.assertRegex(result.stderr.decode(), rf'MPI_Init: {name}: "{value}')

    def test_arguments_have_their_names(self):
        program = self.compile(r"""
            #include <mpi.h>
            #include <stdlib.h>
            int main(int argc, char** argv) {
                MPI_Init(&argc, &argv);
                const MPI_Comm world = MPI_COMM_WORLD;
                int one = 1, zero = 0, bad = -1, in, out;
                MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL;
                switch (atoi(argv[1])) {
                    case 0: return MPI_Bcast(&in, -1, MPI_INT, 0, world);
                    case 1: return MPI_Gather(&in, -1, MPI_INT, &out, 1, MPI_INT, 0, world);
                    case 2: return MPI_Gatherv(&in, 1, MPI_INT, &out, &bad, &zero, MPI_INT, 0, world);
                    case 3: return MPI_Scatterv(&in, NULL, &zero, MPI_INT, &out, 1, MPI_INT, 0, world);
                    case 4: return MPI_Allgatherv(&in, 1, MPI_INT, &out, &one, NULL, MPI_INT, world);
                    case 5: return MPI_Alltoallv(&in, &one, NULL, MPI_INT, &out, &one, &zero, MPI_INT, world);
                    case 6: return MPI_Alltoallw(&in, &one, &zero, &type, &out, &one, &zero, &none, world);
                    case 7: return MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, world);
                }
                return 0;
            }
        """)
        for number, name in enumerate(("count", "sendcount", "recvcounts", "sendcounts", "displs", "sdispls", "recvtypes", "count")):
            self.assertRegex(run(program, str(number)).stderr, rf"argument {name}: ", number)

    def test_before_init(self):
        program = self.compile("#include <mpi.h>\nint main(void) { int rank; return MPI_Comm_rank(MPI_COMM_WORLD, &rank); }")
        result = poe(program, "-procs", "2")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count(b"MPI is not initialized"), 1, result.stderr)
        self.assertIn(b"call MPI_Init first", result.stderr)

    def test_abort(self):
        program = self.compile("#include <mpi.h>\nint main(void) { int rank; MPI_Init(0, 0); "
                               "MPI_Comm_rank(MPI_COMM_WORLD, &rank); if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 9); "
                               "for (;;) MPI_Barrier(MPI_COMM_SELF); }")
        result = poe(program, "-procs", "3")
        self.assertEqual(result.returncode, 9, result.stderr)
        self.assertRegex(result.stderr.decode(), r"\AERROR: 0031-252  task 1 \(node .*\) ended the job by MPI_Abort with code 9, ")
        self.assertEqual(result.stderr.count(b"MPI_Abort"), 1)

    def test_an_end_without_finalize(self):
        program = self.compile("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return 3; }")
        self.assertEqual(poe(program, "-procs", "2").returncode, 3)


class Threads(MpiTest):
    def test_the_progress_thread_raises_events(self):
        program = self.compile(PROGRESS_EVENT, "program", "-pthread")
        for turn in range(5):
            self.assertEqual(self.ok(poe(program, self.folder / f"computes.{turn}", "-procs", "2")).stdout, b"1 1\n")

    def test_a_long_message_arrives_while_its_receiver_computes(self):
        for text in (PROGRESS_LONG, PROGRESS_COLLECTIVE):
            program = self.compile(text)
            for device in ("us", "ip"):
                with self.subTest(text=text, device=device), tempfile.TemporaryDirectory() as folder:
                    self.assertEqual(self.ok(poe(program, folder, "-procs", "2", "-euilib", device)).stdout, b"5\n")

    def test_waits_are_seen_and_are_no_deadlock(self):
        program = self.compile(THREADS, "threads", "-pthread")
        with open(self.folder / "errors", "wb") as errors:
            job = start(program, self.marker, "-procs", "2", stdin=subprocess.PIPE, stderr=errors,
                        env=clean_environment(MP_DEADLOCK_TIMEOUT=1))

        def calls():
            seen = run(POESTAT, "-json", str(job.pid))
            states = json.loads(seen.stdout)["task_states"] if seen.returncode == 0 else []
            return [(task.get("call"), task.get("peer")) for task in states]

        wait_for(lambda: calls() == [("MPI_Recv", 1), ("MPI_Recv", 0)], "both threads to wait")
        time.sleep(2)  # twice the timeout
        self.assertEqual(run(POESTAT, "-deadlock", str(job.pid)).returncode, 0)
        output, _ = job.communicate(b"x\n", timeout=DEADLINE)
        self.assertEqual((job.returncode, output, (self.folder / "errors").read_text()), (0, b"1\n1\n", ""))


if __name__ == "__main__":
    main()
