#!/usr/bin/env python3
"""Wait states, root causes, critical path and efficiencies of real jobs: what vt says of a trace is what follows from
its records, worked out here in the plainest way."""

import collections
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from launching import BUILD, SANITIZED, SOURCE, LaunchTest, main, poe, wait_for
from trace_file import ALL_TO_ALL, ALL_TO_ONE, BARRIER, ENDS, ONE_TO_ALL, PHASE_BITS, STARTS, Trace

NOBODY = 0xffffffff
# A call with the data flow that the start of a persistent operation has.
LIKE = {BARRIER: "MPI_Barrier", ALL_TO_ALL: "MPI_Allreduce", ONE_TO_ALL: "MPI_Bcast", ALL_TO_ONE: "MPI_Reduce"}

# A call or user's region: its name, its beginning and end, and how many of the program's regions are around it.
Call = collections.namedtuple("Call", "name begin end phase")
# A task's part in a collective operation.
Member = collections.namedtuple("Member", "task entered begin left name root")


def ns(seconds):
    return round(seconds * 1e9)


class Job:
    """What the records of a trace say, by task."""

    def __init__(self, path):
        self.trace = Trace(path)
        self.calls, self.computing, self.members = {}, {}, collections.defaultdict(list)
        for task in self.trace.tasks:
            self.read(task)

    def read(self, task):
        kinds = {record.a: record.b for record in self.trace.of(task, "define") if record.detail == 1}
        names = self.trace.names(task, 1)
        calls, stack, joined, pending = [], [], [], {}
        computing, since = collections.Counter(), None
        for record in self.trace.tasks[task].records:
            outermost = names[stack[0][0]] if stack and kinds[stack[0][0]] == 2 else ""
            in_call = any(kinds[region] != 2 for region, _ in stack)
            if record.kind in ("enter", "leave") and not in_call and since is not None:
                computing[outermost] += record.time - since
            since = record.time if record.kind in ("enter", "leave") or since is None else since
            if record.kind == "enter":
                stack.append((record.a, record.time))
            elif record.kind == "leave":
                region, begin = stack.pop()
                if kinds[region] != 2:
                    phase = names[stack[0][0]] if stack else ""
                    calls.append(Call(names[region], begin, record.time, phase))
                for key, entered, name, root in joined:
                    self.members[key].append(Member(task, entered, begin, record.time, name, root))
                joined = []
            elif record.kind == "collective":
                key = (record.b >> 32, record.extra)
                region, begin = stack[-1]
                part, flow = record.detail & PHASE_BITS, record.detail >> 2
                if part == STARTS:
                    pending[key] = (key, begin, LIKE[flow] if flow else names[region], record.a)
                else:
                    joined.append(pending.pop(key) if part == ENDS else (key, begin, names[region], record.a))
        self.calls[task], self.computing[task] = calls, computing

    def around(self, task, time):
        return next(call for call in self.calls[task] if call.begin <= time <= call.end)

    def messages(self):
        """(sender, its call, time of sending, receiver, its call) of each message of the program."""
        for task in self.trace.tasks:
            for sent in self.trace.of(task, "send"):
                if sent.detail == 1:
                    continue
                tag = lambda record: record.b >> 32
                received = next(record for record in self.trace.of(sent.a, "receive")
                                if (record.a, record.extra, record.detail, tag(record)) ==
                                (task, sent.extra, sent.detail, tag(sent)))
                yield (task, self.around(task, sent.time), sent.time, sent.a, self.around(sent.a, received.time))

    def late_senders(self):
        """ns by (wait state, task)."""
        waits = collections.Counter()
        messages = list(self.messages())
        for _, _, sent, to, call in messages:
            if sent > call.begin:
                older = any(other[3] == to and other[2] < sent and other[4].begin > call.begin for other in messages)
                waits["wrong order" if older else "late sender", to] += sent - call.begin
        return waits

    def window_waits(self):
        """ns by (wait state, task): messages of the library for which MPI_Win_start and MPI_Win_wait have waited."""
        states = {"MPI_Win_start": "late post", "MPI_Win_wait": "late complete"}
        sent = {(record.a, task, record.extra): record.time for task in self.trace.tasks
                for record in self.trace.of(task, "send") if record.detail == 1}
        waits = collections.Counter()
        for task in self.trace.tasks:
            until = {}
            for received in self.trace.of(task, "receive"):
                call = next((call for call in self.calls[task] if call.begin <= received.time <= call.end), None)
                if received.detail != 1 or call is None or call.name not in states:
                    continue
                begin = max(call.begin, until.get(call.begin, 0))
                end = min(sent[task, received.a, received.extra], received.time)
                if end > begin:
                    waits[states[call.name], task] += end - begin
                    until[call.begin] = end
        return waits

    def collective_waits(self, name=None):
        """ns by (wait state, task), by the formulas of docs/wait-states.md; only those in calls of this name."""
        waits = collections.Counter()
        for members in self.members.values():
            members = [each for each in members if name in (None, each.name)]
            entered = {each.task: each.entered for each in members}
            for each in members:
                last = max((time, task) for task, time in entered.items() if time <= each.left)
                begin, state = each.begin, self.state_of(each)
                if state == "late broadcast":
                    if each.task != each.root and entered[each.root] > begin:
                        waits[state, each.task] += entered[each.root] - begin
                        begin = entered[each.root]
                    state = "late member"
                if last[0] > begin:
                    waits[state, each.task] += last[0] - begin
        return waits

    @staticmethod
    def state_of(member):
        name = member.name.lower()
        if "barrier" in name or "sync" in name or "finalize" in name or name == "mpi_win_free":
            return "wait at barrier"
        if "fence" in name:
            return "wait at fence"
        if "bcast" in name:
            return "late broadcast"
        if "reduce" in name and "all" not in name:
            return "early reduce" if member.task == member.root else "late member"
        return "wait at NxN"

    def span(self):
        """From the first to the last record of tasks, or about them: the daemon notes what it sees of them, and their ends."""
        streams = self.trace.tasks.values()
        about = lambda kind: [each.time for node in self.trace.nodes.values() for each in node.records if each.kind == kind]
        # A record that is out of order counts at the time of the one before it.
        first = min([stream.records[0].time for stream in streams] + about("doing"))
        return first, max([record.time for stream in streams for record in stream.records] + about("ended"))


class MplDiagnosis(LaunchTest):
    compiler, source = "mpcc", "diagnosis_tasks"
    link, regions = (), True

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, cls.source)
        subprocess.run([str(BUILD / "bin" / cls.compiler), str(SOURCE / "tests/multiproc" / f"{cls.source}.c"), "-g", "-O1",
                        "-o", cls.program, *cls.link], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def traced(self, how, *options, times=1):
        """The records of a job of four tasks, and what vt says of it. The tasks compute `times` as long as usual."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.ok(poe(self.program, how, str(times), "-procs", "4", "-tracelevel", "9", *options, cwd=place.name))
        path = pathlib.Path(place.name) / f"{self.source}.trc"
        told = subprocess.run([str(BUILD / "bin" / "vt"), "-summary", "-json", str(path)], capture_output=True, text=True,
                              check=True)
        summary = json.loads(told.stdout)
        job = Job(path)
        self.check_sums(job, summary)
        return job, summary

    def check_sums(self, job, summary):
        """What holds of every trace."""
        waited = sum(state["seconds"] for state in summary["wait_states"])
        self.assertEqual(ns(waited), sum(ns(each["seconds"]) for each in summary["waits"]))
        for state in summary["wait_states"]:
            for part in ("by_task", "by_site", "by_communicator", "by_phase"):
                self.assertTrue(all(row["name"] or part == "by_phase" for row in state[part]), (state["name"], part))
                self.assertEqual(sum(ns(row["seconds"]) for row in state[part]), ns(state["seconds"]), (state["name"], part))
        costs = sum(cause["seconds"] for cause in summary["root_causes"])
        self.assertAlmostEqual(costs, waited, delta=1e-9 + 1e-6 * waited)
        path = summary["critical_path"]
        first, last = job.span()
        self.assertEqual(ns(path["seconds"]), last - first)
        self.assertEqual(sum(map(ns, path["by_task"])), last - first)
        for row in [summary["efficiency"], *summary["efficiency"]["phases"]]:
            self.assertAlmostEqual(row["load_balance"] * row["serialisation"] * row["transfer"], row["parallel_efficiency"])

    @staticmethod
    def told_waits(summary):
        return {(state["name"], row["task"]): ns(row["seconds"]) for state in summary["wait_states"] for row in state["by_task"]}

    def assert_waits(self, job, summary):
        expected = job.late_senders() + job.collective_waits() + job.window_waits()
        self.assertEqual(self.told_waits(summary), {key: time for key, time in expected.items() if time > 0})

    @staticmethod
    def links(job):
        """How long the chain was held up by task 2, which computes, and by tasks 3 and 0, which pass the message on."""
        sent = {task: time for task, _, time, _, _ in job.messages()}
        before = max(call.end for call in job.calls[2] if call.end < sent[2])
        return sent[2] - before, sent[3] - sent[2], sent[0] - sent[3]

    def traced_in_order(self, holds, how, *options, check=lambda job, summary: None):
        """Repeats the run until its records show the intended order of events; `check` is applied to every run. On a busy
        computer a task may get a processor so late that no task waits for the one that should be late. So each run lets the
        tasks compute longer, up to ten times as long, which makes the intended waits longer than all others."""
        attempts = itertools.count(1)

        def run():
            job, summary = self.traced(how, *options, times=min(next(attempts), 10))
            check(job, summary)
            return (job, summary) if holds(job) else None
        return wait_for(run, f"the intended order of events in {how}")

    def traced_until(self, how, holds):
        return self.traced_in_order(holds, how, check=self.assert_waits)[1]

    def test_chain(self):
        def holds(job):
            computing, *passing_on = self.links(job)
            return computing > sum(passing_on) and computing > 2 * job.collective_waits().total()

        summary = self.traced_until("chain", holds)
        cause = max(summary["root_causes"], key=lambda each: each["indirect_seconds"])
        self.assertEqual((cause["task"], cause["state"]), (2, "computing"))
        self.assertLessEqual({0, 1, 3}, {victim["task"] for victim in cause["victims"]})
        self.assertRegex(cause["line"], r"diagnosis_tasks\.inc:\d+$")

    def test_order(self):
        summary = self.traced_until("order", lambda job: ("wrong order", 0) in job.late_senders())
        self.assertIn(("wrong order", 0), self.told_waits(summary))

    def test_collectives(self):
        meant = {"wait at barrier", "late broadcast", "early reduce", "wait at NxN"}
        summary = self.traced_until("collectives", lambda job: meant <= {state for state, _ in job.collective_waits()})
        self.assertLessEqual(meant, {state["name"] for state in summary["wait_states"]})

    def test_phases(self):
        job, summary = self.traced("phases")
        self.assert_waits(job, summary)
        self.assert_barrier_path(job, summary)
        if not self.regions:
            return
        phases = {row["phase"]: row for row in summary["efficiency"]["phases"]}
        for phase in ("even", "uneven"):
            computing = [job.computing[task][phase] for task in range(4)]
            self.assertEqual(ns(phases[phase]["max_computing_seconds"]), max(computing))
            self.assertAlmostEqual(phases[phase]["load_balance"], sum(computing) / 4 / max(computing))
        barrier = next(state for state in summary["wait_states"] if state["name"] == "wait at barrier")
        self.assertLessEqual({"even", "uneven"}, {row["name"] for row in barrier["by_phase"]})

    def assert_barrier_path(self, job, summary):
        """In a program that only has barriers, the path goes over the last task of each."""
        first, last = job.span()
        ends = {task: max([stream.records[-1].time] + [record.time for node in job.trace.nodes.values()
                                                      for record in node.records if record.kind == "ended" and record.a == task])
                for task, stream in job.trace.tasks.items()}
        at, task = last, max(ends, key=lambda each: (ends[each], -each))
        spent = collections.Counter()
        for members in sorted(job.members.values(), key=lambda all: -max(each.entered for each in all)):
            mine = next(each for each in members if each.task == task)
            entered, whom = max((each.entered, each.task) for each in members if each.entered <= mine.left)
            if entered > mine.entered:
                spent[task] += at - entered
                at, task = entered, whom
        spent[task] += at - first
        self.assertEqual({each: ns(time) for each, time in enumerate(summary["critical_path"]["by_task"]) if time > 0},
                         {each: time for each, time in spent.items() if time > 0})


class MpiDiagnosis(MplDiagnosis):
    compiler, source = "mpicc.poe", "mpi_diagnosis_tasks"
    link = ("-Wl,--no-as-needed", "-lmpl")  # for the regions

    def test_communicator(self):
        for how in ("order", "collectives"):
            _, summary = self.traced(how)
            names = {row["name"] for state in summary["wait_states"] for row in state["by_communicator"]}
            self.assertEqual(names, {"mesh"})


    def test_intercommunicator(self):
        """Task 0 is the root of a broadcast to the other group, of a reduction there, and of a broadcast that does not block;
        the other member of its group takes no part."""
        def holds(job):
            return {("late broadcast", 2), ("late broadcast", 3), ("early reduce", 0)} <= set(job.collective_waits())

        job, summary = self.traced_in_order(holds, "inter", check=self.assert_waits)
        waits = self.told_waits(summary)
        self.assertEqual({task for state, task in waits if state == "late broadcast"}, {2, 3})
        self.assertEqual({task for state, task in waits if state == "early reduce"}, {0})
        records = [len(job.trace.of(task, "collective")) for task in range(4)]
        self.assertEqual(records, [records[1] + 4 if task != 1 else records[1] for task in range(4)])


class PersistentDiagnosis(MplDiagnosis):
    """Requests that are started again and again; the call that starts one does not tell its operation."""
    compiler, source = "mpicc.poe", "mpi_diagnosis_tasks"
    link = ("-Wl,--no-as-needed", "-lmpl")
    test_chain = test_order = test_phases = None

    def test_collectives(self):
        meant = {("late broadcast", task) for task in (1, 2, 3)} | {("early reduce", 0)}
        meant |= {("wait at barrier", task) for task in (0, 2, 3)} | {("wait at NxN", task) for task in (0, 1, 3)}
        job, summary = self.traced_in_order(lambda job: meant <= set(job.collective_waits()), "persistent",
                                            check=self.assert_waits)
        self.assertLessEqual(meant, set(self.told_waits(summary)))
        started = [LIKE[record.detail >> 2] for record in job.trace.of(3, "collective") if record.detail & PHASE_BITS == STARTS]
        self.assertEqual(started, 2 * ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"])
        roots = [record.a for record in job.trace.of(3, "collective") if record.detail & PHASE_BITS == STARTS]
        self.assertEqual(roots, 2 * [NOBODY, 0, 0, NOBODY])


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichPersistentDiagnosis(PersistentDiagnosis):
    compiler, link, regions = "/usr/bin/mpicc.mpich", ("-ldl",), False


class WindowDiagnosis(MplDiagnosis):
    """The tests of the base class belong to another program."""
    compiler, source = "mpicc.poe", "mpi_window_tasks"
    test_chain = test_order = test_collectives = test_phases = None

    def told(self, how, state, task, cause):
        """Task `task` waits in this state because task `cause` computes, and others wait about as long for `task`. The waits
        before that are shorter, and since then no other task was busy for so long that the three others can have waited as
        long for it."""
        def busy(job, other):
            since = self.call_of(job, other, "MPI_Barrier").end
            waits = sum(time for (_, each), time in job.window_waits().items() if each == other)
            return self.call_of(job, other, "MPI_Win_free").begin - since - waits

        def holds(job):
            length = job.window_waits()[state, task]
            before = job.collective_waits().total() - job.collective_waits("MPI_Win_free").total()
            return length > 2 * before and length > 6 * max(busy(job, other) for other in range(4) if other != cause)

        summary = self.traced_until(how, holds)
        worst = max(summary["root_causes"], key=lambda each: each["seconds"])
        self.assertEqual((worst["task"], worst["state"]), (cause, "computing"))
        return summary

    @staticmethod
    def communicators(summary, state):
        return {row["name"] for each in summary["wait_states"] if each["name"] == state for row in each["by_communicator"]}

    def test_fence(self):
        summary = self.traced_until("fence", lambda job: ("wait at fence", 0) in job.collective_waits())
        waits = self.told_waits(summary)
        self.assertLess(waits.get(("wait at fence", 2), 0), waits["wait at fence", 0])
        self.assertEqual(self.communicators(summary, "wait at fence"), {"window of MPI_COMM_WORLD"})

    def test_post(self):
        self.told("post", "late post", 0, 3)

    def test_complete(self):
        summary = self.told("complete", "late complete", 1, 2)
        self.assertEqual(self.communicators(summary, "late complete"), {"window of MPI_COMM_WORLD"})

    def test_locks(self):
        """Task 2 computes with the lock, and then gives it back; tasks 1 and 3 have wanted it since before."""
        def asked_in_time(job):
            return all(self.call_of(job, task, "MPI_Win_lock").begin < self.call_of(job, 2, "MPI_Win_unlock").begin
                       for task in (1, 3))

        for how in ("lock", "lock-all"):
            for device in ("us", "ip"):
                job, summary = self.traced_in_order(asked_in_time, how, "-euilib", device)
                held = 0
                waits = {task: length for (state, task), length in self.told_waits(summary).items() if state == "lock contention"}
                self.assertEqual(set(waits), {1, 3})
                for task, length in waits.items():
                    own = self.call_of(job, task, "MPI_Win_lock")
                    self.assertGreaterEqual(length, self.call_of(job, 2, "MPI_Win_unlock").begin - own.begin)
                    self.assertLessEqual(length, own.end - own.begin)
                    held += self.call_of(job, 2, "MPI_Win_unlock").begin - own.begin
                # Task 2 may have waited for a part of this time. On a busy computer other tasks may have caused more, because the
                # others wait for them later.
                caused = sum(ns(each["seconds"]) for each in summary["root_causes"] if (each["task"], each["state"]) == (2, "computing"))
                self.assertGreaterEqual(caused, 0.9 * held)

    def test_shared_locks_are_no_contention(self):
        _, summary = self.traced("shared")
        self.assertNotIn("lock contention", {state for state, _ in self.told_waits(summary)})

    @staticmethod
    def call_of(job, task, name):
        """The only call of a task whose name is this one, or begins with it."""
        return next(call for call in job.calls[task] if call.name in (name, f"{name}_all"))


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiWindowDiagnosis(WindowDiagnosis):
    """What an observer does not see is left out: when these libraries wait for a window to be opened or for a lock."""
    compiler, link, regions = "/usr/bin/mpicc.openmpi", ("-ldl",), False
    test_post = test_locks = None


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichWindowDiagnosis(OpenMpiWindowDiagnosis):
    compiler = "/usr/bin/mpicc.mpich"


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiDiagnosis(MpiDiagnosis):
    compiler, link, regions = "/usr/bin/mpicc.openmpi", ("-ldl",), False


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichDiagnosis(OpenMpiDiagnosis):
    compiler = "/usr/bin/mpicc.mpich"


if __name__ == "__main__":
    main()
