"""Tasks that start more tasks over several hosts: Open MPI through PMIx, and PMI-1 by a client of its own."""

import os
import re
import signal
import subprocess
import tempfile

from hosts import BUILD, DEADLINE, HERE, HOSTS, ClusterTest, main, testbed

CLIENT = BUILD / "bin" / "pmi_spawn_client"


def lines(text):
    return sorted(line for line in text.splitlines() if line)


class Spawn(ClusterTest):
    # Open MPI would look for fast networks first.
    ENVIRONMENT = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "eth0"}

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="poe-cluster-", dir="/tmp")
        cls.program = os.path.join(cls.directory.name, "spawn_tasks")
        subprocess.run(["mpicc.openmpi", HERE.parent / "multiproc" / "spawn_tasks.c", "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def spawn(self, *args, hosts, each=1, status=0, **env):
        result = self.poe(self.program, *args, "-procs", len(hosts) * each, "-hostfile", self.host_file(hosts, each),
                          "-maxtime", 90, env={**self.ENVIRONMENT, **env})
        self.ok(result, status)
        return result

    def test_spawned_tasks_take_part(self):
        result = self.spawn("rounds", 3, 2, hosts=(0, 1))
        self.assertEqual(lines(result.stdout), [f"round {i}: 4 tasks add up" for i in range(3)], result.stderr)

    def test_one_far_host(self):
        result = self.spawn("rounds", 2, 3, hosts=(1,), each=2)
        self.assertEqual(lines(result.stdout), [f"round {i}: 5 tasks add up" for i in range(2)], result.stderr)

    def test_a_home_without_tasks_and_a_tree(self):
        result = self.spawn("rounds", 2, 6, hosts=(1, 2, 3), MP_LAUNCH_FANOUT=1)
        self.assertEqual(lines(result.stdout), [f"round {i}: 9 tasks add up" for i in range(2)], result.stderr)

    def test_spawned_tasks_go_to_the_nodes_in_turns(self):
        result = self.spawn("info", "wdir", self.folder.name, hosts=(1, 2, 3))
        self.assertEqual(re.findall(r"(\d) of 2 on (\w+)", "\n".join(lines(result.stdout))), [("0", "node1"), ("1", "node2")])

    def test_spawned_tasks_go_where_they_are_to(self):
        result = self.spawn("info", "host", "node3", hosts=(1, 2, 3))
        self.assertEqual(re.findall(r"(\d) of 2 on (\w+)", "\n".join(lines(result.stdout))), [("0", "node3"), ("1", "node3")])

    def test_generations(self):
        result = self.spawn("generations", 3, hosts=(0, 1))
        self.assertEqual([line for line in lines(result.stdout) if line.startswith("generation")],
                         ["generation 0", "generation 1", "generation 2", "generation 3", "generation 3"])

    def test_what_cannot_be_spawned(self):
        result = self.spawn("missing", "/nonexistent/program", hosts=(1, 2))
        self.assertEqual(lines(result.stdout), ["refused", "those who are there: 2 tasks add up"])
        self.assertIn("task 0 asked to start more tasks (MPI_Comm_spawn), which failed", result.stderr)

    def test_tasks_meet_by_a_name(self):
        self.assertEqual(lines(self.spawn("meet", hosts=(0, 1, 2)).stdout), ["met: 2 tasks add up"])

    def test_the_spawned_go_on(self):
        result = self.spawn("leave", hosts=(0,))
        self.assertEqual(lines(result.stdout), ["goes on"])

    def test_death_of_a_spawned_task_ends_all(self):
        result = self.spawn("die", hosts=(0, 1), status=128 + signal.SIGKILL)
        self.assertIn("task 3 (node node1, ", result.stderr)

    def stay(self):
        job = self.start(self.program, "stay", "-procs", 2, "-hostfile", self.host_file((1, 2)), env={**self.ENVIRONMENT, "MP_PULSE": 4})
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        while "stay" not in job.stdout.readline():
            self.assertIsNone(job.poll())
        return job

    def test_signals_end_all(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)):
            job = self.stay()
            self.signal(job, number)
            _, err = job.communicate(timeout=DEADLINE)
            self.assertEqual(job.returncode, status, err)

    def test_a_lost_host_ends_all(self):
        job = self.stay()
        testbed("kill", 2)
        self.addCleanup(testbed, "start", 2)
        _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 1, err)
        self.assertIn("node2", err)

    def test_pmi1(self):
        result = self.poe(CLIENT, "-procs", 3, "-hostfile", self.host_file((1, 2, 3)), env={"MP_LAUNCH_FANOUT": 1})
        self.ok(result)
        self.assertEqual(lines(result.stdout), ["first-0 is at port-0", "first: 0 of 3, program 0", "second-1 is at port-1",
                                                "second-2 is at port-2", "second: 1 of 3, program 1", "second: 2 of 3, program 1"])


if __name__ == "__main__":
    assert HOSTS in (0, 4)
    main(4)
