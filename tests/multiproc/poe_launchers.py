#!/usr/bin/env python3
"""MPL programs under the launchers of others: Open MPI's mpirun (PMIx), MPICH's mpiexec (PMI-1), and a
small PMI-1 launcher in this file, which does not care about its tasks."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from launching import BUILD, EXAMPLES, POE, LaunchTest, clean_environment, main, processes, running, wait_for

LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}

# Says who it is and where, waits for everybody, then does what argv[2] says. argv[1] is the test's mark.
PROGRAM = r"""
#include <fcntl.h>
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int facts[4], type = 1, from = DONTCARE, size;
    if (mpc_task_query(facts, 4, 1) || mpc_sync(ALLGRP)) return 9;
    const char* what = argc > 2 ? argv[2] : "";
    char line[100], maps[500];
    write(1, line, sprintf(line, "task %d of %d on node %d of %d\n", facts[1], facts[0], facts[2], facts[3]));
    if (!strcmp(what, "maps")) {
        FILE* file = fopen("/proc/self/maps", "r");
        while (fgets(maps, sizeof maps, file)) if (strchr(maps, '/')) write(1, strchr(maps, '/'), strlen(strchr(maps, '/')));
        return mpc_sync(ALLGRP);
    }
    if (!strcmp(what, "limits") && facts[1] == 0) {
        mpc_task_query(facts, 2, 4);
        return write(1, line, sprintf(line, "limits %d %d\n", facts[0], facts[1])) < 0;
    }
    if (!strcmp(what, "stop") && facts[1] == 1) { printf("last words"); mpc_stopall(atoi(argv[3])); }
    if (!strcmp(what, "wait")) mpc_brecv(maps, 1, &from, &type, &size);
    return 0;
}"""


# The same for MPI: says who it is, makes collective calls, and then does what argv[2] says.
MPI_PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
    int rank, size, sum, root, in[64], out[64];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    root = rank == size - 1 ? 77 : 0;
    MPI_Bcast(&root, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) out[i] = rank * 100 + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) if (in[i] != i * 100 + rank) MPI_Abort(MPI_COMM_WORLD, 99);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    if (argc > 2 && strcmp(argv[2], "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[3]));
    if (argc > 2 && strcmp(argv[2], "error") == 0 && rank == 1) MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (argc > 2) MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d: %d %d\n", rank, size, sum, root);
    MPI_Finalize();
    return 0;
}"""


class Pmi1Launcher:
    """As much of PMI-1 as a task needs, and no more: it does not look after its tasks."""

    def __init__(self, size, *command, answers=None, env=None):
        self.store, self.waiting, self.commands = {}, [], []
        self.size, self.answers, self.lock = size, answers or {}, threading.Lock()
        self.tasks, self.threads = [], []
        for rank in range(size):
            ours, theirs = socket.socketpair()
            variables = clean_environment(PMI_FD=theirs.fileno(), PMI_RANK=rank, PMI_SIZE=size, **(env or {}))
            self.tasks.append(subprocess.Popen(command, env=variables, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            theirs.close()
            self.threads.append(threading.Thread(target=self.serve, args=[ours]))
            self.threads[-1].start()

    def serve(self, connection):
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                with self.lock:
                    try:
                        self.answer(line.strip(), lines)
                    except BrokenPipeError:
                        return

    def answer(self, line, lines):
        self.commands.append(line)
        words = dict(word.split("=", 1) for word in line.split(" ") if "=" in word)
        command = words["cmd"]
        if command in self.answers:
            reply = self.answers[command]
        elif command == "init":
            reply = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        elif command == "get_my_kvsname":
            reply = "cmd=my_kvsname kvsname=store rc=0"
        elif command == "put":
            self.store[words["key"]] = words["value"]
            reply = "cmd=put_result rc=0 msg=success"
        elif command == "get":
            found = words["key"] in self.store
            reply = (f"cmd=get_result rc=0 msg=success value={self.store[words['key']]}" if found else
                     "cmd=get_result rc=-1 msg=key_not_found")
        elif command == "barrier_in":
            self.waiting.append(lines)
            if len(self.waiting) == self.size:
                everybody, self.waiting = self.waiting, []
                for one in everybody:
                    one.write("cmd=barrier_out rc=0\n")
                    one.flush()
            return
        elif command == "finalize":
            reply = "cmd=finalize_ack rc=0"
        else:
            return
        lines.write(reply + "\n")
        lines.flush()

    def wait(self):
        """(exit code, stdout, stderr) of each task."""
        results = []
        for task in self.tasks:
            out, err = task.communicate(timeout=60)
            results.append((task.returncode, out.decode(), err.decode()))
        for thread in self.threads:
            thread.join()
        return results

    def kill(self):
        for task in self.tasks:
            task.kill()


class ProgramTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        source = pathlib.Path(cls.directory.name, "prog.c")
        source.write_text(PROGRAM)
        cls.program = str(source.with_suffix(""))
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", cls.program], check=True)
        source = pathlib.Path(cls.directory.name, "mpi_prog.c")
        source.write_text(MPI_PROGRAM)
        cls.mpi_program = str(source.with_suffix(""))
        subprocess.run([str(BUILD / "bin" / "mpicc.poe"), str(source), "-o", cls.mpi_program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()


class Launchers(ProgramTest):
    def environment(self, **changes):
        # Open MPI refuses root unless told twice; its own files go with the test.
        return clean_environment(OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, **changes)

    def start(self, kind, n, *command, env=None):
        launcher = LAUNCHERS[kind]
        if shutil.which(launcher[0]) is None:
            self.skipTest(f"no {launcher[0]}; ./dev test installs it")
        return subprocess.Popen([*launcher, "-n", str(n), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=env or self.environment())

    def launch(self, kind, n, *command, env=None):
        job = self.start(kind, n, *command, env=env)
        try:
            out, err = job.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            job.kill()
            raise
        return subprocess.CompletedProcess(job.args, job.returncode, out, err)

    def places(self, output):
        return sorted(re.findall(r"^task (\d+) of (\d+) on node (\d+) of (\d+)$", output.decode(), re.M))

    def test_ring(self):
        for kind in LAUNCHERS:
            for n in (1, 2, 4):
                out = self.ok(self.launch(kind, n, str(EXAMPLES / "ring"))).stdout.decode()
                got = sorted(re.findall(r"^task (\d+) of (\d+) .* got (\d+) from task (\d+)$", out, re.M))
                self.assertEqual(got, [(str(i), str(n), str(i if i else n), str((i or n) - 1)) for i in range(n)], kind)

    def test_mpi(self):
        for kind in LAUNCHERS:
            for n, changes in ((1, {}), (2, {}), (4, {}), (3, {"MP_EUILIB": "ip"})):
                out = self.ok(self.launch(kind, n, self.mpi_program, self.marker, env=self.environment(**changes))).stdout
                self.assertEqual(sorted(out.decode().splitlines()),
                                 [f"rank {i} of {n}: {n * (n - 1) // 2} 77" for i in range(n)], kind)

    def test_mpi_abort_ends_the_job_with_its_code(self):
        for kind in LAUNCHERS:
            result = self.launch(kind, 3, self.mpi_program, self.marker, "abort", "42")
            self.assertEqual(result.returncode, 42, (kind, result.stderr))
            self.assertIn(b"MPI_Abort in task 1: the program ends the job with code 42", result.stderr, kind)

    def test_an_mpi_error_is_told_by_the_task(self):
        for kind in LAUNCHERS:
            result = self.launch(kind, 3, self.mpi_program, self.marker, "error")
            self.assertEqual(result.returncode, 2, (kind, result.stderr))
            self.assertRegex(result.stderr.decode(), r"ERROR: 0032-202 MPI_Send in task 1 on node \S+ with communicator "
                                                     r"MPI_COMM_WORLD: argument count: -1 is negative", kind)

    def test_word_count(self):
        def counts(out):
            return re.findall(r"^\s*\d+ [a-z]+$", out.decode(), re.M)
        alone = counts(subprocess.run([str(EXAMPLES / "wordcount")], capture_output=True, check=True,
                                      env=clean_environment()).stdout)
        self.assertEqual(len(alone), 10)
        for kind in LAUNCHERS:
            out = self.ok(self.launch(kind, 3, str(EXAMPLES / "wordcount"))).stdout
            self.assertEqual((counts(out), out.count(b"counted")), (alone, 3), kind)

    def test_semantics(self):
        for kind in LAUNCHERS:
            for n, changes in ((1, {}), (4, {}), (3, {"MP_EUILIB": "ip"}), (4, {"MP_WAIT_MODE": "sleep"})):
                for program in ("mpl_semantics", "mpl_nonblocking"):
                    self.ok(self.launch(kind, n, str(BUILD / "bin" / program), env=self.environment(**changes)))

    def test_random_messages(self):
        for kind in LAUNCHERS:
            for n, changes, order in ((4, {}, []), (3, {"MP_EUILIB": "ip"}, []),
                                      (4, {"MP_EAGER_LIMIT": "100", "MP_SINGLE_COPY": "no"}, []),
                                      (3, {"MP_BUFFER_MEM": "64K"}, ["ordered"])):
                self.ok(self.launch(kind, n, str(BUILD / "bin" / "mpl_random"), f"{n}70", "5", "10", *order,
                                    env=self.environment(**changes)))

    def test_several_nodes(self):
        """A process that does not see our process numbers is on another computer, as far as we know."""
        node = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*node, "true"], capture_output=True).returncode != 0:
            self.skipTest("may not make namespaces here")
        if not subprocess.run(["hostname", "-I"], capture_output=True).stdout.strip():
            self.skipTest("no network address but loopback here")
        for kind in LAUNCHERS:
            def everywhere(*command):
                return [*command, ":", "-n", "1", *node, *command, ":", "-n", "1", *node, *command]
            out = self.ok(self.launch(kind, 2, *everywhere(self.program, self.marker))).stdout
            self.assertEqual(self.places(out), [("0", "4", "0", "3"), ("1", "4", "0", "3"), ("2", "4", "1", "3"),
                                                ("3", "4", "2", "3")], kind)
            for mode in ("adaptive", "sleep"):
                self.ok(self.launch(kind, 2, *everywhere(str(BUILD / "bin" / "mpl_random"), "880", "5", "10"),
                                    env=self.environment(MP_WAIT_MODE=mode)))

    def test_settings_of_task_0_count(self):
        for kind in LAUNCHERS:
            changes = self.environment(MP_BUFFER_MEM="1m", MP_EAGER_LIMIT="3000")
            out = self.ok(self.launch(kind, 2, self.program, self.marker, "limits", env=changes)).stdout
            self.assertIn(b"limits 3000 1048576\n", out, kind)
            result = self.launch(kind, 3, self.program, self.marker, env=self.environment(MP_WAIT_MODE="fast"))
            self.assertEqual(result.returncode, 1, (kind, result.stderr))
            self.assertEqual(result.stderr.count(b'0032-118 task 0: this job cannot begin: MP_WAIT_MODE: "fast" is not '
                                                 b'allowed; expected adaptive, poll, yield, sleep or nopoll'), 1, kind)

    def test_stopall_ends_the_job_with_its_code(self):
        for kind in LAUNCHERS:
            result = self.launch(kind, 4, self.program, self.marker, "stop", "42")
            self.assertEqual(result.returncode, 42, (kind, result.stderr))

    def test_a_killed_task_ends_the_job(self):
        for kind in LAUNCHERS:
            job = self.start(kind, 3, self.program, self.marker, "wait")
            for _ in range(3):
                job.stdout.readline()
            tasks = [pid for pid in running(self.marker) if processes()[pid][2].startswith(self.program)]
            self.assertEqual(len(tasks), 3, kind)
            os.kill(tasks[1], signal.SIGKILL)
            job.communicate(timeout=60)
            self.assertNotEqual(job.returncode, 0, kind)
            wait_for(lambda: not running(self.marker), f"the tasks of {kind} to end")

    def test_all_killed_at_once_leave_nothing(self):
        for kind in LAUNCHERS:
            job = self.start(kind, 3, self.program, self.marker, "wait")
            for _ in range(3):
                job.stdout.readline()
            for pid in [*running(self.marker), job.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            job.communicate(timeout=60)
            wait_for(lambda: not running(self.marker), f"the tasks of {kind} to end")

    def test_tasks_end_when_their_launcher_is_gone(self):
        for kind in LAUNCHERS:
            job = self.start(kind, 3, self.program, self.marker, "wait")
            for _ in range(3):
                job.stdout.readline()
            job.kill()
            job.communicate(timeout=60)
            wait_for(lambda: not running(self.marker), f"the tasks of {kind} to end")

    def test_nothing_has_a_name(self):
        """What tasks share is in no file system, so that no death can leave it there."""
        for kind in LAUNCHERS:
            out = self.ok(self.launch(kind, 2, self.program, self.marker, "maps")).stdout.decode()
            shared = {line for line in out.splitlines() if "poe-" in line and not line.startswith("task")
                      and self.directory.name not in line and str(BUILD) not in line}
            self.assertTrue(shared, kind)
            for line in shared:
                self.assertRegex(line, r"^/memfd:poe-launched-[0-9a-f]{16} \(deleted\)$")

    def test_only_tasks_of_a_pmix_launcher_load_libpmix(self):
        command = [self.program, self.marker, "maps"]
        self.assertIn(b"libpmix", self.ok(self.launch("openmpi", 2, *command)).stdout)
        self.assertNotIn(b"libpmix", self.ok(self.launch("mpich", 2, *command)).stdout)
        for words in ([], ["-procs", "2"]):
            alone = subprocess.run(command + words, capture_output=True, env=clean_environment(MP_POE=POE))
            self.assertNotIn(b"libpmix", self.ok(alone).stdout)

    def test_poe_below_another_launcher(self):
        for kind in LAUNCHERS:
            out = self.ok(self.launch(kind, 2, POE, self.program, self.marker, "-procs", "3")).stdout
            self.assertEqual(self.places(out), sorted([(str(i), "3", "0", "1") for i in range(3)] * 2), kind)

    def test_a_variable_makes_no_jobs_of_tasks(self):
        for kind in LAUNCHERS:
            out = self.ok(self.launch(kind, 2, self.program, self.marker, env=self.environment(MP_PROCS=3))).stdout
            self.assertEqual(self.places(out), [("0", "2", "0", "1"), ("1", "2", "0", "1")], kind)


class CarelessLauncher(ProgramTest):
    def launcher(self, *arguments, **options):
        launcher = Pmi1Launcher(*arguments, **options)
        self.addCleanup(launcher.kill)
        return launcher

    def test_it_works(self):
        launcher = self.launcher(3, self.program, self.marker)
        self.assertEqual([(code, err) for code, _, err in launcher.wait()], [(0, "")] * 3)
        self.assertEqual(launcher.commands.count("cmd=finalize"), 3)

    def test_the_others_end_when_one_dies(self):
        launcher = self.launcher(3, self.program, self.marker, "wait")
        for task in launcher.tasks:
            task.stdout.readline()
        launcher.tasks[1].kill()
        launcher.tasks[1].wait()
        results = launcher.wait()
        self.assertIn("cmd=abort exitcode=1", launcher.commands)
        for number in (0, 2):
            code, _, err = results[number]
            self.assertEqual(code, 1, err)
            self.assertIn(f"0032-118 task {number}: task 1 (process {launcher.tasks[1].pid} of this node) has died", err)

    def test_nobody_ends_when_one_ends_in_an_orderly_way(self):
        launcher = self.launcher(2, str(BUILD / "bin" / "mpl_random"), "900", "2", "5", env={"MP_WAIT_MODE": "sleep"})
        self.assertEqual([(code, err) for code, _, err in launcher.wait()], [(0, "")] * 2)

    def test_wrong_answers_are_told(self):
        for command, answer, words in (("get_my_kvsname", "cmd=my_kvsname rc=0", "name of its store"),
                                       ("put", "cmd=put_result rc=-1 msg=full", "msg=full"),
                                       ("get", "cmd=get_result rc=0 msg=success value=,", "cannot be understood"),
                                       ("get", "cmd=get_result rc=0 msg=success", "there is no job of task 0")):
            launcher = self.launcher(2, self.program, self.marker, answers={command: answer})
            for code, _, err in launcher.wait():
                self.assertNotEqual(code, 0)
                self.assertIn(words, err)

    def test_without_its_socket(self):
        result = subprocess.run([self.program, self.marker], capture_output=True, timeout=60,
                                env=clean_environment(PMI_FD=77, PMI_RANK=0, PMI_SIZE=2))
        self.assertEqual(result.returncode, 9)
        self.assertIn(b"PMI_FD", result.stderr)


if __name__ == "__main__":
    main()
