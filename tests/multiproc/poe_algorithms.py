#!/usr/bin/env python3
"""The messages of collective calls in whole jobs, as their traces have them: those of the algorithm that
MP_COLL_... asks for and no other, none within a node when nobody asks, and one round to make a group."""

import os
import pathlib
import subprocess
import tempfile

from launching import BUILD, SOURCE, LaunchTest, clean_environment, main, poe
from trace_file import Trace

TASKS = 8


class Algorithms(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "algorithm_tasks")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(SOURCE / "tests/multiproc/algorithm_tasks.c"), "-O1", "-o",
                        cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def messages(self, *args, **variables):
        """Of each call the tasks that each task has sent messages to, in their order."""
        with tempfile.TemporaryDirectory() as place:
            result = poe(self.program, *args, "-procs", str(TASKS), "-tracelevel", "9", cwd=pathlib.Path(place),
                         env=clean_environment(**variables))
            self.assertEqual(result.returncode, 0, result.stderr)
            trace = Trace(os.path.join(place, "algorithm_tasks.trc"))
        calls = {}
        for task in range(TASKS):
            names, call = trace.names(task, 1), None
            for record in trace.tasks[task].records:
                if record.kind == "enter":
                    call = names[record.a]
                    calls.setdefault(call, [[] for _ in range(TASKS)])
                elif record.kind == "leave":
                    call = None
                elif record.kind == "send":
                    self.assertIsNotNone(call)
                    calls[call][task].append(record.a)
        return calls

    def test_nobody_asks(self):
        calls = self.messages()
        # The first call that needs memory shares it: a round from task 0.
        first, *others = (sum(map(len, calls[f"mpc_{name}"])) for name in (
            "bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "shift", "sync"))
        self.assertEqual((first, others), (TASKS - 1, [0] * 9))

    def test_what_is_asked_for_is_run(self):
        def neighbours(*distances):
            return [[(me + d) % TASKS for d in distances] for me in range(TASKS)]

        def partners(*bits):
            return [[me ^ bit for bit in bits] for me in range(TASKS)]

        binomial = [[4, 2, 1], [], [3], [], [6, 5], [], [7], []]
        cases = {
            ("bcast", "binomial"): binomial,
            ("bcast", "chain:1"): [[me + 1] if me + 1 < TASKS else [] for me in range(TASKS)],
            ("scatter", "binomial"): binomial,
            ("scatter", "direct"): [list(range(1, TASKS))] + [[]] * (TASKS - 1),
            ("gather", "direct"): [[]] + [[0]] * (TASKS - 1),
            ("combine", "butterfly"): partners(1, 2, 4),
            ("prefix", "butterfly"): [[me + d for d in (1, 2, 4) if me + d < TASKS] for me in range(TASKS)],
            ("concat", "ring"): None,
            ("concat", "exchange"): partners(1, 2, 4),
            ("index", "pairwise:0"): None,
            ("index", "radix:2"): None,
            ("index", "radix:8"): None,
            ("sync", "dissemination"): neighbours(1, 2, 4),
            ("shift", "direct"): neighbours(1),
        }
        counts = {("concat", "ring"): 7, ("index", "pairwise:0"): 7, ("index", "radix:2"): 3, ("index", "radix:8"): 7}
        for (operation, name), wanted in cases.items():
            with self.subTest(operation=operation, algorithm=name):
                sent = self.messages(**{f"MP_COLL_{operation.upper()}": name})[f"mpc_{operation}"]
                if wanted is not None:
                    self.assertEqual([sorted(each) for each in sent], [sorted(each) for each in wanted])
                else:
                    self.assertEqual([len(each) for each in sent], [counts[operation, name]] * TASKS)

    def test_a_group_is_made_in_one_round(self):
        calls = self.messages("groups")
        # From the first of the list to the other members, each told once.
        told = sorted(to for sent in calls["mpc_group"] for to in sent)
        self.assertEqual(told, list(range(1, TASKS - 1)))
        # All tell all, in as few messages as that takes.
        self.assertEqual([len(sent) for sent in calls["mpc_partition"]], [3] * TASKS)


if __name__ == "__main__":
    main()
