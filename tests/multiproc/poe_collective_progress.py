#!/usr/bin/env python3
"""How collective calls are carried out, as poestat says it of a call that waits, and vt of a trace."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from launching import BUILD, SOURCE, LaunchTest, clean_environment, main, poe

TASKS = 4
LATE = 2  # the task that waits for a file
PATIENCE = 40


class CollectiveProgress(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "collective_progress")
        subprocess.run([str(BUILD / "bin/mpicc.poe"), str(SOURCE / "tests/multiproc/collective_progress.c"), "-o",
                        cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def assert_waiting(self, pid, expected):
        """poestat says this, task -> (path, round, rounds), of the tasks that wait in MPI_Allgather, before long."""
        deadline, told = time.monotonic() + PATIENCE, {}
        while told != expected and time.monotonic() < deadline:
            result = subprocess.run([str(BUILD / "bin/poestat"), "-json", str(pid)], capture_output=True, text=True,
                                    env=clean_environment(), timeout=PATIENCE)
            states = json.loads(result.stdout)["task_states"] if result.returncode == 0 else []
            told = {task["task"]: tuple(task["carried_out"].values()) for task in states if "carried_out" in task}
            time.sleep(0.1)
        self.assertEqual(told, expected)
        return [task["text"] for task in states if task["task"] in expected]

    def test_poestat_names_the_round_of_a_call_that_waits(self):
        # Blocks go up the ring. Task 3 waits for the block of the late task, task 0 for the same block one round
        # later, and task 1 until the late task has taken its first block.
        waiting = [task for task in range(TASKS) if task != LATE]
        for algorithm, expected, words in (
                ("ring", {task: ("schedule", round, TASKS - 1) for task, round in ((0, 2), (1, 1), (3, 1))},
                 "MPI_Allgather by messages, round "),
                ("shared-memory", {task: ("copy-in-out", 0, 0) for task in waiting}, "MPI_Allgather by copy-in-out")):
            with self.subTest(algorithm), tempfile.TemporaryDirectory() as place:
                go = pathlib.Path(place, "go")
                trace = os.path.join(place, "progress.trc")
                job = subprocess.Popen([str(BUILD / "bin/poe"), self.program, str(go)], cwd=place,
                                       env=clean_environment(MP_PROCS=TASKS, MP_COLL_CONCAT=algorithm, MP_TRACELEVEL=2,
                                                             MP_TRACEFILE=trace), stderr=subprocess.DEVNULL)
                try:
                    texts = self.assert_waiting(job.pid, expected)
                finally:
                    go.touch()
                    self.assertEqual(job.wait(timeout=PATIENCE), 0)
                for text in texts:
                    self.assertIn(words, text)
                if algorithm == "ring":
                    drawn = self.vt("-view", "timeline", "-size", "160x40", trace)
                    for round in (1, 2):
                        self.assertIn(f"|ring {round}/{TASKS - 1}", drawn)

    def vt(self, *arguments):
        return subprocess.run([str(BUILD / "bin/vt"), *arguments], capture_output=True, text=True, check=True).stdout

    def summary(self, **variables):
        with tempfile.TemporaryDirectory() as place:
            trace = os.path.join(place, "progress.trc")
            self.ok(poe(self.program, env=clean_environment(MP_PROCS=TASKS, MP_TRACELEVEL=2, MP_TRACEFILE=trace,
                                                            **variables)))
            told = json.loads(self.vt("-summary", "-json", trace))
            return self.vt("-summary", trace), {each["call"]: each for each in told["collective_paths"]}

    def test_vt_names_algorithms_and_rounds(self):
        text, paths = self.summary(MP_COLL_CONCAT="ring", MP_COLL_BCAST="binomial", MP_COLL_SYNC="shared-memory",
                                      MP_EUILIB="ip")
        self.assertEqual((paths["MPI_Allgather"]["path"], paths["MPI_Allgather"]["rounds"]), ("ring", TASKS - 1))
        self.assertEqual((paths["MPI_Alltoallv"]["path"], paths["MPI_Alltoallv"]["rounds"]), ("direct", 1))
        self.assertEqual((paths["MPI_Bcast"]["path"], paths["MPI_Bcast"]["rounds"]), ("binomial", 2))
        self.assertEqual({call: paths[call]["calls"] for call in ("MPI_Allgather", "MPI_Alltoallv", "MPI_Bcast")},
                         {"MPI_Allgather": 2 * TASKS, "MPI_Alltoallv": TASKS, "MPI_Bcast": TASKS})
        self.assertRegex(text, r"(?m)^MPI_Allgather +8 .* 3  ring$")

    def test_vt_names_paths_in_memory(self):
        _, paths = self.summary()
        self.assertEqual(paths["MPI_Barrier"]["path"], "cache-line")
        self.assertEqual(paths["MPI_Allgather"]["rounds"], 0)


if __name__ == "__main__":
    main()
