#!/usr/bin/env python3
"""Programs of other MPI libraries, observed unchanged: what is recorded of them is what they do, and they notice nothing."""

import collections
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import mpi_profiles
from launching import (BUILD, DEADLINE, SANITIZED, SOURCE, LaunchTest, clean_environment, main, poe, processes, start,
                       wait_for)
from poe_watch import WatchTest
from trace_file import Trace, records_so_far

HERE = SOURCE / "tests/multiproc"
TASKS = 4

# What each task of observed_calls.c sends in one pass of its function point_to_point: bytes by tag.
SENT = {2: [40], 4: [4, 8], 5: [4], 6: [4], 7: [28], 8: [12] * 5, 9: [4], 10: [8, 12]}
# How often each task makes each call, in two passes and outside of them; Waitsome depends on time.
CALLS = {"MPI_Sendrecv": 9, "MPI_Send": 2, "MPI_Irecv": 10, "MPI_Isend": 10, "MPI_Wait": 10, "MPI_Waitall": 12,
         "MPI_Waitany": 2, "MPI_Mprobe": 2, "MPI_Mrecv": 2, "MPI_Send_init": 2, "MPI_Recv_init": 2, "MPI_Startall": 10,
         "MPI_Request_free": 4, "MPI_Cancel": 2, "MPI_Barrier": 2, "MPI_Comm_split": 2, "MPI_Comm_idup": 1,
         "MPI_Intercomm_create": 1, "MPI_Bcast": 1, "MPI_Allreduce": 1, "MPI_Iallreduce": 1, "MPI_Comm_free": 4,
         "MPI_Finalize": 1}


not_sanitized = unittest.skipIf(SANITIZED, "a library with a sanitizer cannot be loaded into other people's programs")


def signed(number):
    return number - (1 << 32) if number >= 1 << 31 else number


def with_contexts(records):
    """Pairs of a record and the context that follows it, 0 if none does."""
    for at, record in enumerate(records):
        behind = records[at + 1] if at + 1 < len(records) else None
        yield record, behind.b if behind is not None and behind.kind == "context" else 0


class Compiled(LaunchTest):
    def setUp(self):
        super().setUp()
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def built(self, compiler, source, *flags):
        """The program, or the library if flags say so, of this source file or text."""
        path = source
        if isinstance(source, str):
            path = pathlib.Path(self.place.name, "text.f90" if source.startswith("program") else "text.c")
            path.write_text(source)
        program = os.path.join(self.place.name, f"{path.stem}-{len(os.listdir(self.place.name))}")
        subprocess.run([compiler, str(path), "-O1", "-o", program, *flags], check=True, capture_output=True)
        return program

    def traced(self, *command, tasks=TASKS, env=None):
        result = self.ok(poe(*command, "-procs", str(tasks), "-tracelevel", "9", "-tracefile", "job.trc", "-stdoutmode", "ordered",
                             cwd=self.place.name, env=env))
        return result.stdout, Trace(pathlib.Path(self.place.name, "job.trc"))

    def calls(self, trace, task):
        names = trace.names(task, 1)
        return collections.Counter(names[record.a] for record in trace.of(task, "enter"))


@not_sanitized
class OpenMpi(Compiled):
    suffix = "openmpi"

    def compiler(self, name):
        return f"/usr/bin/{name}.{self.suffix}"

    def test_independent_profile(self):
        program = self.built(self.compiler("mpicc"), HERE / "mpi_profile_tasks.c")
        profile = mpi_profiles.compiled(self.suffix, self.place.name)
        _, profiled, traced, summary = mpi_profiles.run(profile, TASKS, [program], self.place.name, clean_environment())
        self.assertEqual(list(mpi_profiles.differences(profiled, traced)), [])
        # In each of 3 rounds task r gives (r + 1) * (i + 1) ints to task i.
        lengths = 3 * 4 * sum(range(1, TASKS + 1)) ** 2
        for call in ("MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv"):
            self.assertEqual(traced[call], (3 * TASKS, lengths), call)
        # Task r gives r + 1 ints, twice in each round.
        own = 2 * 3 * 4 * sum(range(1, TASKS + 1))
        for call in ("MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv"):
            self.assertEqual(traced[call], (2 * 3 * TASKS, own), call)
        self.assertEqual(traced["MPI_Reduce_scatter"], (3 * TASKS, 3 * 4 * TASKS * sum(range(1, TASKS + 1))))
        self.assertEqual((summary["lost"], summary["unmatched"]), (0, 0))

    def assert_messages_match(self, trace):
        """Each send has the receive with the same context, tag and number, of the same length; nothing is left."""
        ends = {"send": {}, "receive": {}}
        for task in trace.tasks:
            for record, context in with_contexts(trace.tasks[task].records):
                if record.kind not in ends:
                    continue
                self.assertEqual(record.detail, 2)
                self.assertNotEqual(context, 0)
                pair = (task, record.a) if record.kind == "send" else (record.a, task)
                key = (*pair, context, record.b >> 32, record.extra)
                self.assertNotIn(key, ends[record.kind])
                ends[record.kind][key] = record.b & 0xffffffff
        self.assertEqual(ends["send"], ends["receive"])
        return ends["send"]

    def test_every_kind_of_call(self):
        program = self.built(self.compiler("mpicc"), HERE / "observed_calls.c")
        plain = self.ok(poe(program, "-procs", "4", "-stdoutmode", "ordered", "-observe", "no")).stdout
        for threads in ([], ["threads"]):
            out, trace = self.traced(program, *threads)
            self.assertEqual(out, plain)
            messages = self.assert_messages_match(trace)
            # By context: MPI_COMM_WORLD, its reverse, the intercommunicator.
            contexts = collections.defaultdict(lambda: collections.defaultdict(list))
            for (source, to, context, tag, _number), length in sorted(messages.items()):
                contexts[context][source, to, tag].append(length)
            self.assertEqual(len(contexts), 3)
            for step, extra in ((1, (0, 1)), (-1, (3, 2))):
                expected = {(task, (task + step) % TASKS, tag): lengths for task in range(TASKS) for tag, lengths in SENT.items()}
                expected[*extra, 1] = [100]
                self.assertIn(expected, [dict(each) for each in contexts.values()])
            self.assertIn({(task, (task + 2) % TASKS, 12): [4] for task in range(TASKS)}, [dict(each) for each in contexts.values()])
            for task in range(TASKS):
                counted = self.calls(trace, task)
                del counted["MPI_Waitsome"]
                more = {0: {"MPI_Ssend": 1}, 1: {"MPI_Recv": 1}, 2: {"MPI_Recv": 1}, 3: {"MPI_Ssend": 1}}[task]
                expected = collections.Counter(CALLS) + collections.Counter(more)
                expected["MPI_Recv"] += 2  # from nobody
                self.assertEqual(counted, expected)

    def test_collective_operations(self):
        """Operations have the same group and number in all members, the root that was named, and an end if they do not block."""
        program = self.built(self.compiler("mpicc"), HERE / "observed_calls.c")
        _, trace = self.traced(program)
        operations = collections.defaultdict(list)
        for task in trace.tasks:
            for record in trace.of(task, "collective"):
                operations[record.b >> 32, record.extra].append((task, record.detail, signed(record.a)))
        started = 0
        for members in operations.values():
            phases = collections.Counter(phase for _, phase, _ in members)
            self.assertEqual(len({root for _, _, root in members}), 1)
            if phases[1]:
                self.assertEqual(phases, {1: TASKS, 2: TASKS})
                started += 1
            else:
                self.assertIn(phases[0], (2, TASKS))
        self.assertEqual(started, 2)  # MPI_Iallreduce and MPI_Comm_idup
        # Rank 2 of the reversed communicator is task 1.
        self.assertEqual([members[0][2] for members in operations.values() if members[0][2] >= 0], [1])

    def fortran(self, interface, end):
        return f"""program observed
{interface}
integer :: rank, i, e, values(8)
call MPI_Init(e)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
values = rank
do i = 1, 3
  if (rank == 0) call MPI_Send(values, 8, MPI_INTEGER, 1, i, MPI_COMM_WORLD, e)
  if (rank == 1) call MPI_Recv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, {end}, e)
end do
call MPI_Bcast(values, 8, MPI_INTEGER, 1, MPI_COMM_WORLD, e)
print *, sum(values)
call MPI_Finalize(e)
end program
"""

    def test_fortran(self):
        for interface, end in (("use mpi_f08\nimplicit none", "MPI_STATUS_IGNORE"), ("use mpi\nimplicit none", "MPI_STATUS_IGNORE"),
                               ("implicit none\ninclude 'mpif.h'", "MPI_STATUS_IGNORE")):
            program = self.built(self.compiler("mpifort"), self.fortran(interface, end))
            out, trace = self.traced(program, tasks=2)
            self.assertEqual(out.split(), [b"0", b"0"])
            self.assertEqual(list(self.assert_messages_match(trace).values()), [32] * 3)
            # The calls come from the program, not from the library of the Fortran interface.
            self.assertEqual({site for task in (0, 1) for site in trace.names(task, 3).values()}, {program})
            self.assertEqual([self.calls(trace, task) for task in (0, 1)],
                             [{"MPI_Send": 3, "MPI_Bcast": 1, "MPI_Finalize": 1}, {"MPI_Recv": 3, "MPI_Bcast": 1, "MPI_Finalize": 1}])

    PLUGIN = """
#include <mpi.h>
int work(void) {
    int rank, x = 5, y = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 1, &y, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y;
}
"""
    LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*work)(void) = plugin ? (int (*)(void))dlsym(plugin, "work") : 0;
    if (!work) return puts(dlerror()), 1;
    return printf("%d\\n", work()) < 0;
}
"""

    def test_library_that_is_loaded_later(self):
        """As Python loads it: the names of the MPI library are visible to the plug-in only."""
        plugin = self.built(self.compiler("mpicc"), self.PLUGIN, "-shared", "-fPIC")
        loader = self.built("gcc", self.LOADER, "-ldl")
        out, trace = self.traced(loader, plugin, tasks=2)
        self.assertEqual(out.split(), [b"5", b"5"])
        self.assertEqual(len(self.assert_messages_match(trace)), 2)

    TOOL = """
#include <mpi.h>
#include <stdio.h>
static int sends;
int MPI_Send(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c) { ++sends; return PMPI_Send(b, n, t, d, g, c); }
int MPI_Finalize(void) { int e = PMPI_Finalize(); fprintf(stderr, "tool: %d sends\\n", sends); return e; }
"""
    SENDER = """
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; ++i)
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""

    def test_other_tools(self):
        """A profiling tool, preloaded or linked, and the observer see each call once."""
        tool = self.built(self.compiler("mpicc"), self.TOOL, "-shared", "-fPIC")
        sender = self.built(self.compiler("mpicc"), self.SENDER)
        linked = self.built(self.compiler("mpicc"), self.SENDER, "-Wl,--no-as-needed", tool)
        for program, env in ((sender, clean_environment(LD_PRELOAD=tool)), (linked, None)):
            result = self.ok(poe(program, "-procs", "2", "-tracelevel", "9", "-tracefile", "job.trc", cwd=self.place.name, env=env))
            self.assertEqual(sorted(line for line in result.stderr.splitlines() if b"tool" in line),
                             [b"tool: 0 sends", b"tool: 3 sends"])
            trace = Trace(pathlib.Path(self.place.name, "job.trc"))
            self.assertEqual(self.calls(trace, 0), {"MPI_Send": 3, "MPI_Finalize": 1})
            self.assertEqual(len(self.assert_messages_match(trace)), 3)

    def test_whole_calls(self):
        """A blocking call is one record, with the time of its end; the call in which the task is killed has no end."""
        program = self.built(self.compiler("mpicc"), self.KILLED)
        job = start(program, "-procs", "1", "-tracelevel", "9", "-tracefile", "job.trc", cwd=self.place.name)
        begun = lambda: [record for record in records_so_far(self.place.name, "task-0") if record.kind == "enter"]
        wait_for(lambda: len(begun()) > 3000, "the last call")
        os.kill(next(pid for pid, (_, _, command) in processes().items() if command.startswith(program)), signal.SIGKILL)
        job.communicate(timeout=DEADLINE)
        trace = Trace(pathlib.Path(self.place.name, "job.trc"))
        names = trace.names(0, 1)
        calls = [record for record in trace.tasks[0].records if record.kind in ("enter", "leave")]
        begun = [record for record in calls if record.kind == "enter"]
        self.assertEqual([names[record.a] for record in begun], ["MPI_Isend", "MPI_Recv", "MPI_Wait"] * 1000 + ["MPI_Recv"])
        self.assertEqual([record.kind for record in calls], ["enter", "leave"] * 3000 + ["enter"])
        times = [record.time for record in calls]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(self.assert_messages_match(trace)), 1000)
        # A call for a request needs a second record if it is interrupted for a millisecond, which few are.
        self.assertLess(trace.tasks[0].length // 24, 3000 + 1000)

    KILLED = """#include <mpi.h>
int main(int argc, char** argv) {
    int x = 1, y;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 1000; ++i) {
        MPI_Isend(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        MPI_Recv(&y, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&y, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
"""

    def test_not_observed(self):
        program = self.built(self.compiler("mpicc"), self.SENDER)
        result = self.ok(poe(program, "-procs", "2", "-observe", "no", "-tracelevel", "9", "-tracefile", "job.trc",
                             cwd=self.place.name))
        self.assertEqual(self.calls(Trace(pathlib.Path(self.place.name, "job.trc")), 0), {})
        told = subprocess.run([str(BUILD / "bin" / "vt"), "-summary", "job.trc"], cwd=self.place.name, capture_output=True,
                              text=True, check=True).stdout
        self.assertIn("No calls were recorded", told)

    def test_world_of_one(self):
        """Tasks that are a job each, because no job was offered to their library: their communicators have nothing in common."""
        alone = self.built(self.compiler("mpicc"), """
#include <mpi.h>
int main(int argc, char **argv) {
    int size, x = 1, y;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 1) return 1;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
""")
        _, trace = self.traced(alone, tasks=2, env=clean_environment(MP_PMIX="no"))
        self.assertEqual({key[:2] for key in self.assert_messages_match(trace)}, {(0, 0), (1, 1)})
        groups = [{record.b >> 32 for record in trace.of(task, "collective")} for task in (0, 1)]
        self.assertEqual(groups[0] & groups[1], set())


class Mpich(OpenMpi):
    suffix = "mpich"

    def test_static_program(self):
        """Nothing can be preloaded, and nothing is disturbed."""
        try:
            program = self.built(self.compiler("mpicc"), self.SENDER, "-static")
        except subprocess.CalledProcessError:
            raise unittest.SkipTest("no static MPI library is installed")
        self.ok(poe(program, "-procs", "2"))


@not_sanitized
class Environment(LaunchTest):
    def test_only_preload_changes(self):
        """A program that does not use MPI sees one more library and nothing else."""
        def variables(observe):
            result = self.ok(poe("env", "-procs", "1", "-observe", observe, env=clean_environment(MP_PMIX="no")))
            return dict(line.split(b"=", 1) for line in result.stdout.splitlines() if b"=" in line)
        without, observed = variables("no"), variables("auto")
        changed = {name for name in {*without, *observed} if without.get(name) != observed.get(name)}
        self.assertIn(b"libpoe-observe.so", observed[b"LD_PRELOAD"])
        self.assertLessEqual({name for name in changed if not name.startswith(b"MP_")}, {b"LD_PRELOAD"})

    def test_own_libraries_show_themselves(self):
        with tempfile.TemporaryDirectory() as place:
            program = os.path.join(place, "own")
            subprocess.run([str(BUILD / "bin" / "mpicc.poe"), "-x", "c", "-", "-o", program], input=OpenMpi.SENDER.encode(), check=True)
            for observe in ("auto", "yes"):
                result = self.ok(poe(program, "-procs", "2", "-observe", observe, "-tracelevel", "9", "-tracefile", "job.trc", cwd=place))
                trace = Trace(pathlib.Path(place, "job.trc"))
                names = trace.names(0, 1)
                self.assertEqual([names[record.a] for record in trace.of(0, "enter")].count("MPI_Send"), 3)
                self.assertNotIn(2, {record.detail for record in trace.of(0, "send")})


    def test_own_library_in_a_script(self):
        """The observer, which a script has, steps aside: the places of the calls are in the program, not in the observer."""
        with tempfile.TemporaryDirectory() as place:
            program = pathlib.Path(place, "own")
            subprocess.run([str(BUILD / "bin" / "mpicc.poe"), "-x", "c", "-", "-o", program], input=OpenMpi.SENDER.encode(), check=True)
            script = pathlib.Path(place, "run.sh")
            script.write_text(f"#!/bin/sh\necho $LD_PRELOAD\nexec {program}\n")
            script.chmod(0o755)
            result = self.ok(poe(script, "-procs", "2", "-tracelevel", "9", "-tracefile", "job.trc", cwd=place))
            self.assertIn(b"libpoe-observe.so", result.stdout)
            trace = Trace(pathlib.Path(place, "job.trc"))
            names, sites = trace.names(0, 1), trace.names(0, 3)
            calls = [record for record in trace.of(0, "enter") if names[record.a].startswith("MPI_")]
            self.assertEqual([names[record.a] for record in calls].count("MPI_Send"), 3)
            self.assertEqual({sites[record.extra] for record in calls}, {str(program)})


@not_sanitized
class Watching(WatchTest):
    """Not with MPICH, of which the second program of a script cannot use the connection of the first."""
    compiler, source = "/usr/bin/mpicc.openmpi", "mpi_watch_tasks"

    def test_second_program_of_a_script(self):
        script = pathlib.Path(self.directory.name, "twice.sh")
        script.write_text(f'#!/bin/sh\n{self.program} nothing > /dev/null || exit\nexec {self.program} "$@"\n')
        script.chmod(0o755)
        program, self.program = self.program, str(script)
        try:
            with self.running("receives", 2, MP_DEADLOCK_TIMEOUT=0) as job:
                self.assertEqual(self.waiting(job, (0, 1))[0]["call"], "MPI_Recv")
        finally:
            self.program = program

    def test_names_of_windows(self):
        for how, name in (("window_fence", "window table"), ("window_renamed", "window without a name")):
            with self.running(how, 2, MP_DEADLOCK_TIMEOUT=0) as job:
                seen = self.waiting(job, (0, 1), [(1, "MPI_Win_fence")])
                self.assertEqual(seen[1]["communicator"], name)


if __name__ == "__main__":
    main()
