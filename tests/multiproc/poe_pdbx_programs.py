#!/usr/bin/env python3
"""pdbx and the kinds of programs: how they were linked, what they are written in, how they were optimised, whether they
have symbols."""

import subprocess

from debugging import PdbxTest
from launching import main

PLAIN = r"""
#include <stdio.h>
static int twice(int n) { return 2 * n; }
int main(int argc, char **argv) {
    int sum = twice(argc) + !argv;
    printf("sum %d\n", sum);
    return 0;
}
"""

MPL = r"""
#include <mpproto.h>
#include <stdio.h>
int main(void) {
    int tasks, me;
    mpc_environ(&tasks, &me);
    printf("sum %d\n", tasks);
    return 0;
}
"""

# The constructor reads before the main program begins, and the main program has another name than the file's first function.
CPLUSPLUS = r"""
#include <cstdio>
namespace other { int main(int n) { return n + 1; } }
struct Early { int value; Early() : value(other::main(1)) {} };
static Early early;
int main() {
    std::printf("sum %d\n", early.value);
    return 0;
}
"""

FORTRAN = r"""
program parts
  implicit none
  integer :: total
  total = 5
  print '(a,i0)', 'sum ', total
end program
"""

OPTIMIZED = r"""
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) long deepest(long n, long task) {
    long unused = n * 3 + task;
    long product = n;
    if (task > 1) product *= strtol("5", 0, 10);
    printf("%ld\n", product);
    return product + 1;
}
static inline __attribute__((always_inline)) long middle(long n, long task) {
    return deepest(n + 1, task) + 1;
}
static __attribute__((noinline)) long outer(long n, long task) {
    long result = middle(n, task);
    puts("outer");
    return result;
}
int main(int argc, char **argv) {
    long task = strtol(getenv("MP_CHILD"), 0, 10);
    long sum = outer(argc + task, task);
    printf("sum %ld\n", sum);
    return argv == 0;
}
"""


# Everything is inlined into main, and the structure is kept in registers in part.
OPTIMIZED_MPI = r"""
#include <mpi.h>
#include <stdio.h>
struct part { int first, count; double values[16]; };
static inline double weight(int i, int rank) {
    int scaled = 2 * i + rank;
    return scaled * 0.5;
}
static double local_sum(const struct part *mine, int rank) {
    double sum = 0;
    for (int i = 0; i < mine->count; ++i) sum += weight(i, rank) * mine->values[i];
    return sum;
}
static double reduce(const struct part *mine, int rank) {
    double local = local_sum(mine, rank), all = 0;
    MPI_Allreduce(&local, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}
int main(int argc, char **argv) {
    int rank;
    struct part mine = {0, 16, {0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine.first = 16 * rank;
    for (int i = 0; i < mine.count; ++i) mine.values[i] = mine.first + i;
    double all = reduce(&mine, rank);
    if (rank == 0) printf("all %g\n", all);
    MPI_Finalize();
    return 0;
}
"""


class Starts(PdbxTest):
    """Each task stops in its main program, after the arguments of the function have got their places."""

    def check(self, program, place, tasks, output):
        said = self.pdbx(["tasks", "breakpoints", "cont"], program, "-procs", tasks)
        all_tasks = list(range(tasks))
        self.assertEqual(said.stops()[0][0], all_tasks, said.text)
        self.assertIn(place, said.stops()[0][1], said.text)
        self.assertEqual(list(said.answers("tasks").values()), [all_tasks], said.text)
        self.assertEqual(said.lines("breakpoints"), ["there are no breakpoints"])
        self.assertEqual(said.output(), [output] * tasks, said.text)
        self.assertEqual(said.status, 0, said.text)

    def test_64_tasks_in_c(self):
        self.check(self.build("plain.c", PLAIN, "cc", "-pie", "-fPIE"), "main at plain.c:5", 64, "sum 2")

    def test_64_tasks_in_fortran(self):
        self.check(self.build("parts.f90", FORTRAN, "gfortran"), "parts at parts.f90:5", 64, "sum 5")

    def test_64_tasks_that_are_linked_statically(self):
        self.check(self.build("plain.c", PLAIN, "cc", "-static"), "main at plain.c:5", 64, "sum 2")

    def test_links_of_every_kind(self):
        for number, flags in enumerate((["-no-pie", "-fno-pie"], ["-static-pie", "-fPIE"], ["-static"], ["-Wl,-z,now", "-pie", "-fPIE"])):
            with self.subTest(flags=flags):
                self.check(self.build(f"plain{number}.c", PLAIN, "cc", *flags), f"main at plain{number}.c:5", 3, "sum 2")
        for number, flags in enumerate(([], ["-static"], ["-static-pie"])):
            with self.subTest(flags=flags):
                self.check(self.build(f"mpl{number}.c", MPL, "mpcc", *flags), f"main at mpl{number}.c:6", 3, "sum 3")
        self.check(self.build("parts.f90", FORTRAN, "gfortran", "-static"), "parts at parts.f90:5", 3, "sum 5")

    def test_another_function_with_the_name_main(self):
        self.check(self.build("early.cpp", CPLUSPLUS, "g++"), "main at early.cpp:7", 4, "sum 2")

    def test_a_program_without_symbols_stops_before_its_first_instruction(self):
        program = self.build("plain.c", PLAIN, "cc")
        subprocess.run(["strip", program], check=True)
        said = self.pdbx(["tasks", "where", "cont"], program, "-procs", 4)
        self.assertEqual(len(said.answers("tasks")), 1, said.text)
        self.assertIn("no symbols: stopped at its first instruction", list(said.answers("tasks"))[0])
        self.assertEqual(said.output(), ["sum 2"] * 4)
        self.assertEqual(said.status, 0, said.text)

    def test_several_programs_of_one_job(self):
        c = self.build("plain.c", PLAIN, "cc")
        fortran = self.build("parts.f90", FORTRAN, "gfortran")
        bare = self.build("bare.c", PLAIN, "cc")
        subprocess.run(["strip", bare], check=True)
        (self.folder / "programs").write_text(f"{c}\n{fortran}\n{bare}\n{c}\n")
        said = self.pdbx(["tasks", "cont"], "-pgmmodel", "mpmd", "-cmdfile", self.folder / "programs", "-procs", 4)
        places = {tuple(tasks): text for text, tasks in said.answers("tasks").items()}
        self.assertIn("main at plain.c:5", places[(0, 3)], said.text)
        self.assertIn("parts at parts.f90:5", places[(1,)], said.text)
        self.assertIn("no symbols", places[(2,)], said.text)
        self.assertEqual(sorted(said.output()), ["sum 2"] * 3 + ["sum 5"], said.text)


class Optimized(PdbxTest):
    """A program of -O2, whose functions are inlined and whose values are gone at most places."""

    def pdbx_on(self, *commands):
        return self.pdbx(["break deepest", "cont", *commands], self.build("fast.c", OPTIMIZED, "cc", "-O2"), "-procs", "3")

    def test_the_stack_has_the_inlined_functions(self):
        said = self.pdbx_on("where", "on 0,1 frame 2", "on 2 up", "on 0,1 print n", "on 2 print n")
        stack = said.lines("where")
        self.assertEqual([line.split()[-2] for line in stack], ["main", "outer", "middle", "deepest"], said.text)
        self.assertEqual(said.answers("on 0,1 frame 2"), {"#2 outer fast.c:15": [0, 1]}, said.text)
        self.assertEqual(said.answers("on 2 up"), {"#1 middle fast.c:12": [2]}, said.text)
        self.assertEqual(said.answers("on 0,1 print n"), {"1": [0], "2": [1]}, said.text)
        self.assertEqual(said.answers("on 2 print n"), {"3": [2]}, said.text)

    def test_a_value_that_is_gone_is_one_answer_of_its_tasks(self):
        said = self.pdbx_on("on 0,1 frame 2", "on 2 finish", "print result", "values result")
        self.assertEqual([each[0] for each in said.stops()][2:], [[2]], said.text)
        # Two tasks are before the computation of the value. The third one has it in a register.
        self.assertEqual(said.answers("print result"), {"<optimized out>": [0, 1], "22": [2]}, said.text)
        self.assertIn("no number: tasks 0,1", said.lines("values result"), said.text)

    def test_step_and_finish(self):
        said = self.pdbx_on("delete", "on 0 step", "tasks", "on 1 up", "on 1 finish", "on 1 finish", "frame 0", "on 2 frame 2", "on 2 finish", "cont")
        places = {tuple(tasks): text for text, tasks in said.answers("tasks").items()}
        self.assertIn("deepest at fast.c:8", places[(0,)], said.text)
        self.assertIn("deepest at fast.c:7", places[(1, 2)], said.text)
        stops = [text for tasks, text in said.stops() if tasks == [1]]
        self.assertIn("outer at fast.c:16", stops[0], said.text)
        self.assertRegex(stops[1], r"returned 5, main at fast.c:2\d")
        # The frame that is selected is the one that is finished, however many are below it.
        self.assertRegex([text for tasks, text in said.stops() if tasks == [2]][0], r"returned 22, main at fast.c:2\d")
        self.assertEqual(sorted(line for line in said.output() if line.startswith("sum")), ["sum 22", "sum 4", "sum 5"], said.text)
        self.assertEqual(said.status, 0, said.text)

    def test_a_program_of_mpi(self):
        said = self.pdbx(["break reduce", "cont", "where", "print mine->first", "step", "step", "where", "delete", "catch call MPI_Allreduce",
                          "cont", "where", "up", "print local", "values local", "finish", "next", "next", "cont"],
                         self.build("sums.c", OPTIMIZED_MPI, "mpicc.poe", "-O2"), "-procs", "4")
        everyone = [0, 1, 2, 3]
        stacks = [[line.split()[-2] for line in report["lines"]] for report in said.of("where")]
        self.assertEqual(stacks[0], ["main", "reduce"], said.text)
        self.assertEqual(stacks[1][:3], ["main", "reduce", "local_sum"], said.text)
        self.assertEqual(stacks[2], ["main", "reduce", "PMPI_Allreduce"], said.text)
        self.assertEqual(said.answers("print mine->first"), {"<optimized out>": everyone}, said.text)
        # The variable is in memory, because MPI gets its address.
        self.assertEqual(said.answers("print local"), {"1240": [0], "3348": [1], "5712": [2], "8332": [3]}, said.text)
        self.assertIn("max   8332  (task 3)", said.lines("values local"), said.text)
        self.assertTrue(all(tasks == everyone for tasks, _ in said.stops()), said.text)
        self.assertEqual(said.output(), ["all 18632"], said.text)
        self.assertEqual(said.status, 0, said.text)


if __name__ == "__main__":
    main()
