#!/usr/bin/env python3
"""Waits of real jobs: what vt says of a trace is what follows from its records, worked out here in the plainest way."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from launching import BUILD, SANITIZED, SOURCE, LaunchTest, main, poe, wait_for
from trace_file import Trace

BETWEEN_POLLS = 10000  # ns


class Calls:
    """The calls of a task, in order, as (name, begin, end), and the receives, as (source, number, time)."""

    def __init__(self, trace, task):
        names = trace.names(task, 1)
        self.calls, begun = [], None
        for record in trace.tasks[task].records:
            if record.kind == "enter":
                begun = (names[record.a], record.time)
            elif record.kind == "leave" and begun:
                self.calls.append((*begun, record.time))
                begun = None

    def around(self, time):
        return next(call for call in self.calls if call[1] <= time <= call[2])

    def named(self, *names):
        return [call for call in self.calls if call[0] in names]


class MplWaits(LaunchTest):
    compiler, source = "mpcc", "wait_tasks"
    send, bcast, ibcast, sync, last_sync = "mpc_bsend", "mpc_bcast", "mpc_ibcast", "mpc_sync", "mpc_sync"
    wait, wait_for_bcast = "mpc_wait", "mpc_collwait"
    polls = ("mpc_status", "mpc_probe")
    message_class = 0

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, cls.source)
        subprocess.run([str(BUILD / "bin" / cls.compiler), str(SOURCE / "tests/multiproc" / f"{cls.source}.c"), "-O1", "-o",
                        cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def traced(self, how, tasks):
        """The trace of a job, and what vt says of it."""
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.ok(poe(self.program, how, "-procs", str(tasks), "-tracelevel", "2", cwd=place.name))
        path = pathlib.Path(place.name) / f"{self.source}.trc"
        told = subprocess.run([str(BUILD / "bin" / "vt"), "-summary", "-json", str(path)], capture_output=True, text=True,
                              check=True)
        trace = Trace(path)
        return trace, {task: Calls(trace, task) for task in trace.tasks}, json.loads(told.stdout)

    def assert_waits(self, summary, why, expected):
        """`expected`: ns by (task, whom)."""
        told = {(each["task"], each["whom"]): round(each["seconds"] * 1e9) for each in summary["blame"] if each["why"] == why}
        self.assertEqual(told, expected)
        self.assertEqual(round(next(each["seconds"] for each in summary["waits"] if each["why"] == why) * 1e9),
                         sum(expected.values()))

    def late_receivers(self, trace, calls, call_that_waits):
        """Each sender waits in its call from when it has sent until the receiver enters its call."""
        waits = {}
        for task in trace.tasks:
            for sent in trace.of(task, "send"):
                if sent.detail != self.message_class:
                    continue
                # The number counts the messages between the two tasks; in an observed program those of one tag, and
                # these programs use each tag in one communicator.
                tag = lambda record: record.b >> 32 if self.message_class == 2 else 0
                received = next(record for record in trace.of(sent.a, "receive")
                                if (record.a, record.extra, record.detail, tag(record)) ==
                                (task, sent.extra, self.message_class, tag(sent)))
                came = calls[sent.a].around(received.time)[1]
                waiting = next(call for call in calls[task].named(call_that_waits) if call[2] >= sent.time)
                begun = max(waiting[1], sent.time)
                if begun < came <= waiting[2]:
                    waits[task, sent.a] = waits.get((task, sent.a), 0) + came - begun
        return waits

    def check_late_receivers(self, how, tasks, call_that_waits):
        """Checks what vt says about each run. On a busy computer, the senders may be late and not the receivers; therefore the
        program is run again until a receiver was late."""
        def run():
            trace, calls, summary = self.traced(how, tasks)
            waits = self.late_receivers(trace, calls, call_that_waits)
            self.assert_waits(summary, "late receiver", waits)
            return trace if waits else None
        return wait_for(run, "a receiver that is late")

    def test_late_receiver(self):
        self.check_late_receivers("late", 2, self.send)

    def test_many_senders(self):
        self.check_late_receivers("many", 4, self.send)

    def test_non_blocking_send(self):
        trace = self.check_late_receivers("wait", 2, self.wait)
        for task, ends in ((0, 10), (1, 0)):
            self.assertEqual(len(trace.of(task, "send_ended")), ends)

    def test_non_blocking_broadcast(self):
        trace, calls, summary = self.traced("ibcast", 4)
        begins = [call[1] for call in calls[0].named(self.ibcast)]
        self.assertEqual(len(begins), 10)
        for task in (1, 2, 3):
            self.assertEqual(calls[task].named(self.bcast), [])
            waits = sum(max(0, min(begin, wait[2]) - wait[1])
                        for begin, wait in zip(begins, calls[task].named(self.wait_for_bcast)))
            told = sum(each["seconds"] for each in summary["blame"]
                       if (each["task"], each["whom"], each["why"]) == (task, 0, "collective"))
            # In the calls that wait for all, everybody waits for the last one.
            every = [calls[each].named(self.sync, self.last_sync) for each in range(4)]
            syncs = list(zip(*every))
            for sync in syncs:
                last = max(range(4), key=lambda each: sync[each][1])
                waits += sync[0][1] - sync[task][1] if last == 0 else 0
            self.assertEqual(round(told * 1e9), waits)

    def test_polling(self):
        trace, calls, summary = self.traced("poll", 2)
        polling, last = 0, None
        for name, begin, end in calls[0].calls:
            if name not in self.polls:
                last = None
                continue
            polling += end - begin + (begin - last if last is not None and begin - last <= BETWEEN_POLLS else 0)
            last = end
        self.assertEqual(round(summary["tasks"][0]["seconds"]["polling"] * 1e9), polling)
        self.assertGreater(polling, 0)


class MpiWaits(MplWaits):
    compiler, source = "mpicc.poe", "mpi_wait_tasks"
    send, bcast, ibcast, sync, last_sync = "MPI_Send", "MPI_Bcast", "MPI_Ibcast", "MPI_Barrier", "MPI_Finalize"
    wait, wait_for_bcast = "MPI_Wait", "MPI_Wait"
    polls = ("MPI_Test", "MPI_Iprobe")


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiWaits(MpiWaits):
    compiler, message_class = "/usr/bin/mpicc.openmpi", 2


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichWaits(MpiWaits):
    compiler, message_class = "/usr/bin/mpicc.mpich", 2


if __name__ == "__main__":
    main()
