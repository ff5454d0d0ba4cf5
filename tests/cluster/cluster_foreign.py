"""Programs of other MPIs over several hosts: Open MPI through PMIx, MPICH through PMI-1."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from hosts import BUILD, DEADLINE, HERE, HOSTS, ClusterTest, main

ALLREDUCE = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank, size, sum, *app, flag;
    char host[256];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
    gethostname(host, sizeof host);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d on %s app %d sum %d\\n", rank, size, host, flag ? *app : -1, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
"""


class Foreign(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.programs = tempfile.TemporaryDirectory(prefix="poe-cluster-", dir="/tmp")
        source = os.path.join(cls.programs.name, "sum.c")
        with open(source, "w") as file:
            file.write(ALLREDUCE)
        for compiler in ("mpicc.openmpi", "mpicc.mpich"):
            subprocess.run([compiler, source, "-o", os.path.join(cls.programs.name, compiler)], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.programs.cleanup()

    # The MPIs would look for fast networks first.
    ENVIRONMENT = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1",
                   "OMPI_MCA_btl_tcp_if_include": "eth0"}

    def mpi(self, lines, *args, env=None, status=0):
        """Runs programs that write that many lines; these, and what else there is. MPICH over UCX hangs in
        MPI_Finalize now and then, under its own mpiexec as well: it is not waited for when all is said."""
        job = self.start(*args, "-maxtime", 60, env={**self.ENVIRONMENT, **(env or {})})
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        said = [job.stdout.readline() for _ in range(lines)]
        mpich = any("mpich" in str(arg) for arg in args)
        try:
            _, err = job.communicate(timeout=3 if mpich and all(said) else DEADLINE)
        except subprocess.TimeoutExpired:
            self.signal(job, signal.SIGKILL)
            _, err = job.communicate(timeout=DEADLINE)
            self.assertTrue(mpich and all(said), err)
        else:
            self.assertEqual(job.returncode, status, f"{said} {err}")
        return "".join(said), err

    def sums(self, compiler, hosts, each=1, **env):
        hosts = list(hosts)
        tasks = len(hosts) * each
        said, _ = self.mpi(tasks, os.path.join(self.programs.name, compiler), "-procs", tasks, "-hostfile",
                           self.host_file(hosts, each), env=env)
        lines = re.findall(r"rank (\d+) of (\d+) on node(\d+) app 0 sum (\d+)", said)
        self.assertEqual(sorted((int(r), int(n), int(h), int(s)) for r, n, h, s in lines),
                         [(t, tasks, hosts[t // each], tasks * (tasks - 1) // 2) for t in range(tasks)])

    def test_open_mpi(self):
        self.sums("mpicc.openmpi", range(2))
        self.sums("mpicc.openmpi", range(4), 2)

    def test_open_mpi_in_a_tree(self):
        self.sums("mpicc.openmpi", range(8), MP_LAUNCH_FANOUT=2)

    def test_mpich(self):
        self.sums("mpicc.mpich", range(2))
        self.sums("mpicc.mpich", range(4))

    def test_mpich_in_a_tree(self):
        self.sums("mpicc.mpich", range(8), MP_LAUNCH_FANOUT=2)

    def test_open_mpi_on_16_hosts(self):
        self.sums("mpicc.openmpi", range(16), MP_LAUNCH_FANOUT=4)

    def test_mpich_on_16_hosts(self):
        self.sums("mpicc.mpich", range(16), MP_LAUNCH_FANOUT=4)

    def test_several_programs(self):
        """Open MPI and MPICH know which program of a commands file each of their tasks is."""
        for compiler in ("mpicc.openmpi", "mpicc.mpich"):
            with self.subTest(compiler=compiler):
                one = os.path.join(self.programs.name, compiler)
                other = self.path("other." + compiler)
                shutil.copy(one, other)
                commands = self.write(f"commands.{compiler}",
                                      f"! a comment\n{one}\n\n{other}\n{other}\n{one}\n{other}\n{one}\n")
                said, _ = self.mpi(6, "-pgmmodel", "mpmd", "-cmdfile", commands, "-procs", 6, "-hostfile",
                                   self.host_file(range(3), 2))
                lines = re.findall(r"rank (\d) of 6 on (node\d) app (\d) sum 15", said)
                self.assertEqual(sorted(lines), [(str(task), f"node{task // 2}", str(app))
                                                 for task, app in enumerate((0, 1, 1, 0, 1, 0))])

    def test_facts_of_programs(self):
        """PMIx has for each task which program it is, how many there are, and its place among those of the same."""
        client = BUILD / "bin" / "pmi_pmix_client"
        other = self.path("other")
        shutil.copy(client, other)
        commands = self.write("commands.pmix", "\n".join(f"{program} apps" for program in (client, other, other, client, other, other)))
        said, _ = self.mpi(6, "-pgmmodel", "mpmd", "-cmdfile", commands, "-procs", 6, "-hostfile", self.host_file((1, 2, 3), 2),
                           env={"MP_LAUNCH_FANOUT": 1})
        places = ((0, 0, 2, 0), (1, 0, 4, 1), (1, 1, 4, 1), (0, 1, 2, 0), (1, 2, 4, 1), (1, 3, 4, 1))
        self.assertEqual(sorted(said.splitlines()), [f"task {task}: program {app} of 2, rank {rank} of {size} in it, first is {first}"
                                                     for task, (app, rank, size, first) in enumerate(places)])

    def test_numbers_of_tasks_for_scripts(self):
        """A script finds its number on the node by the names of POE, of Open MPI and of MPICH; tasks of hosts alternate."""
        ours = "$MP_CHILD $MP_PROCS $MP_LOCAL_CHILD $MP_LOCAL_PROCS"
        others = ("$OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE "
                  "$OMPI_COMM_WORLD_NODE_RANK $MPI_LOCALRANKID $MPI_LOCALNRANKS $PMI_RANK $PMI_SIZE")
        hosts = self.write("alternating", "node0\nnode1\nnode0\n")
        for pmix in ("auto", "no"):
            job = self.poe("sh", "-c", f'echo "{ours}," {others}', "-procs", 3, "-hostfile", hosts,
                           env={"MP_PMIX": pmix, "MPI_LOCALRANKID": "7", "OMPI_COMM_WORLD_RANK": "8"})
            wanted = [f"{task} 3 {rank} {tasks}," + (f" {task} 3 {rank} {tasks} {rank} {rank} {tasks} {task} 3" if pmix == "auto" else "")
                      for task, (rank, tasks) in enumerate(((0, 2), (0, 1), (1, 2)))]
            self.assertEqual(sorted(self.ok(job).stdout.splitlines()), wanted)

    def test_steps_of_a_commands_file(self):
        """One program for all, and then another: each step is a job of its own, with one program."""
        commands = self.write("commands.mpich", "\n".join(os.path.join(self.programs.name, compiler)
                                                         for compiler in ("mpicc.openmpi", "mpicc.mpich")))
        said, _ = self.mpi(6, "-pgmmodel", "spmd", "-newjob", "yes", "-cmdfile", commands, "-procs", 3, "-hostfile",
                           self.host_file(range(3)))
        lines = re.findall(r"rank (\d) of 3 on node(\d) app 0 sum 3", said)
        self.assertEqual(sorted(lines[:3]) + sorted(lines[3:]), [(str(task), str(task)) for task in (0, 1, 2)] * 2)

    def test_values_without_a_fence(self):
        """PMIx fetches what a task of another node has put, also through a tree of daemons. With values in
        messages: libpmix 4.2 may not find those of a task of the same node in its shared store (openpmix 2904)."""
        client = BUILD / "bin" / "pmi_pmix_client"
        for hosts, env in ((range(2), {}), (range(1, 6), {"MP_LAUNCH_FANOUT": 1})):
            tasks = 2 * len(hosts)
            said, err = self.mpi(tasks, client, "fetch", "-procs", tasks, "-hostfile", self.host_file(hosts, 2),
                                 env={"PMIX_MCA_gds": "hash", **env})
            self.assertEqual(sorted(said.splitlines()), sorted(f"task {task} of {tasks} exchanged" for task in range(tasks)), err)

    def test_names_of_the_whole_job(self):
        """What a task publishes is found on every node, also by who has waited for it."""
        for mode in ("names", "wait"):
            said, err = self.mpi(4, BUILD / "bin" / "pmi_pmix_client", mode, "-procs", 4, "-hostfile", self.host_file((1, 2, 3, 4)),
                                 env={"MP_LAUNCH_FANOUT": 1})
            self.assertEqual(sorted(said.splitlines()), [f"task {task} of 4 exchanged" for task in range(4)], err)
        for flavour in ("openmpi", "mpich"):
            said, err = self.mpi(2, BUILD / "bin" / f"pmi_allreduce.{flavour}", "names", "-procs", 2, "-hostfile",
                                 self.host_file((1, 2)))
            self.assertIn("found port-4711\n", said, err)

    def test_a_lost_task_is_an_event(self):
        """PMIx tells the tasks of all nodes, before they are ended, when they ask for that."""
        said, err = self.mpi(5, BUILD / "bin" / "pmi_pmix_client", "lose", "-procs", 6, "-hostfile", self.host_file(range(3), 2),
                             env={"MP_KILL_GRACE": 60000, "MP_LAUNCH_FANOUT": 1}, status=3)
        self.assertEqual(sorted(said.splitlines()), [f"task {task} has lost task 5" for task in range(5)], err)
        self.assertIn("task 5 (node node2", err)

    def test_abort(self):
        for compiler in ("mpicc.openmpi", "mpicc.mpich"):
            with self.subTest(compiler=compiler):
                _, err = self.mpi(0, os.path.join(self.programs.name, compiler), "abort", "-procs", 3, "-hostfile",
                                  self.host_file(range(3)), status=9)
                self.assertIn("task 2 (node node2", err)


@unittest.skipIf(os.environ.get("POE_SANITIZE"), "a library with a sanitizer cannot be loaded into other people's programs")
class ForeignOnPoe(ClusterTest):
    """The checks of programs of MPICH and Open MPI that poe_mpich_abi.py and poe_openmpi_abi.py of tests/multiproc make on one
    node, over several hosts."""

    def test_programs(self):
        with tempfile.TemporaryDirectory(prefix="poe-cluster-", dir="/tmp") as place:
            for mpi, name, hosts in (("mpich", "point", 3), ("mpich", "objects", 16), ("openmpi", "point", 16),
                                     ("openmpi", "objects", 3)):
                program = os.path.join(place, f"{name}-{mpi}")
                subprocess.run([f"mpicc.{mpi}", "-w", str(HERE.parent / f"foreign_abi/{name}.c"), "-o", program], check=True)
                with self.subTest(mpi=mpi, name=name, hosts=hosts):
                    out = self.ok(self.poe(program, "-procs", hosts, "-hostfile", self.host_file(range(hosts), 1), "-mpi", "poe",
                                           "-stdoutmode", "ordered"))
                    self.assertEqual(out.stdout.splitlines(), [f"task {i} of {hosts}: 0 checks failed" for i in range(hosts)])


if __name__ == "__main__":
    assert HOSTS in (0, 16)
    main(16)
