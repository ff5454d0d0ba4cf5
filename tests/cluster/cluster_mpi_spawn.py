"""Tasks of MPI that start tasks on several hosts, and jobs on different hosts that connect."""

from hosts import BUILD, ClusterTest, main

PROGRAM = BUILD / "bin" / "mpi_spawn_tasks"


class Spawn(ClusterTest):
    def run_ok(self, what, hosts, each=1, **env):
        result = self.poe(PROGRAM, what, "-procs", len(hosts) * each, "-hostfile", self.host_file(hosts, each),
                          "-maxtime", 90, env=env)
        self.ok(result)
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_messages_collectives_and_communicators(self):
        self.run_ok("use", (0, 1), 2)

    def test_home_without_tasks(self):
        self.run_ok("use", (1, 2, 3))

    def test_several_programs(self):
        self.run_ok("several", (0, 1))

    def test_windows_over_jobs(self):
        self.run_ok("windows", (0, 1), 2)

    def test_children_that_end_before_mpi_init(self):
        result = self.poe(PROGRAM, "early", "-procs", 2, "-hostfile", self.host_file((0, 1)), "-maxtime", 90)
        self.ok(result)
        self.assertEqual(result.stderr.count("before it had called MPI_Init"), 5, result.stderr)

    def test_generations_and_bridge(self):
        self.run_ok("generations", (0, 1))
        self.run_ok("bridge", (0, 1))

    def test_a_node_that_dies(self):
        self.assertNotEqual(self.poe(PROGRAM, "die", "-procs", 2, "-hostfile", self.host_file((0, 1)), "-maxtime", 60).returncode, 0)


class TwoJobs(ClusterTest):
    def test_jobs_of_different_homes(self):
        port = self.path("port")
        server = self.start(PROGRAM, "serve", port, "2", "-procs", "2", "-maxtime", "90", on=1)
        for host in (2, 3):
            result = self.poe(PROGRAM, "ask", port, "-procs", "2", "-maxtime", "90", on=host)
            self.ok(result)
        output, errors = server.communicate(timeout=60)
        self.assertEqual((server.returncode, output, errors), (0, "", ""))


if __name__ == "__main__":
    main(4)
