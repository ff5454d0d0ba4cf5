#!/usr/bin/env python3
"""Jobs whose tasks talk over TCP: what listens where, strangers, tasks that end or are killed."""

import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import tempfile

from launching import BUILD, EXAMPLES, LaunchTest, clean_environment, daemon_of, main, poe, start

# A ring that goes round until the file argv[1] exists; every task checks every number.
RING = r"""
int main(int argc, char** argv) {
    int n, me; mpc_environ(&n, &me);
    static char block[20000];
    for (int round = 0, stop = 0; !stop; ++round) {
        int from = (me + n - 1) % n, type = round % 1000, size = 8 + round % 15000, got;
        if (me == 0) { stop = access(argv[1], F_OK) == 0; memcpy(block, &round, 4); memcpy(block + 4, &stop, 4);
                       mpc_bsend(block, size, 1 % n, type); }
        if (mpc_brecv(block, sizeof block, &from, &type, &got) || got != size || memcmp(block, &round, 4)) exit(3);
        memcpy(&stop, block + 4, 4);
        if (me != 0) mpc_bsend(block, size, (me + 1) % n, type);
        if (round == 100) { printf("running\n"); fflush(stdout); }
    }
    printf("right\n");
    return 0;
}"""


class TcpTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.place = tempfile.TemporaryDirectory(prefix=self.marker)
        self.jobs = []
        self.stop = os.path.join(self.place.name, "stop")

    def tearDown(self):
        for job in self.jobs:  # after a failure
            if job.poll() is None:
                job.terminate()
            job.communicate()
        self.place.cleanup()
        super().tearDown()

    def compile(self, code):
        source = pathlib.Path(self.place.name, "prog.c")
        source.write_text("#include <mpproto.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                          "#include <unistd.h>\n" + code)
        program = pathlib.Path(self.place.name, "prog")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", str(program)], check=True)
        return str(program)

    def running_ring(self, tasks, *flags, **options):
        job = start(self.compile(RING), self.stop, "-procs", str(tasks), *flags, **options)
        self.jobs.append(job)
        for _ in range(tasks):
            self.assertEqual(job.stdout.readline(), b"running\n")
        return job

    def pids(self, job):
        """task -> pid"""
        found = {}
        for path in pathlib.Path(f"/proc/{daemon_of(job.pid)}/task").glob("*/children"):
            for child in path.read_text().split():
                for entry in pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                    if entry.startswith(b"MP_CHILD="):
                        found[int(entry[9:])] = int(child)
        return found

    def listeners(self, pid):
        """The (address, port) pairs that a process listens on."""
        inodes = set()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        found = []
        for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                address, port = words[1].split(":")
                found.append((socket.inet_ntoa(struct.pack("<I", int(address, 16))), int(port, 16)))
        return found

    def finish(self, job, tasks):
        pathlib.Path(self.stop).touch()
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (0, b"right\n" * tasks), err)
        self.assertEqual(err, b"")


class Sockets(TcpTest):
    def test_examples(self):
        for program in ("ring", "wordcount", "hello"):
            for tasks in ("1", "3", "8"):
                over = self.ok(poe(str(EXAMPLES / program), "-procs", tasks, "-euilib", "ip"))
                self.assertEqual(over.stderr, b"")

    def test_each_task_listens_on_loopback_only_and_pmd_nowhere(self):
        job = self.running_ring(3, "-euilib", "ip", env=clean_environment(MP_PMIX="no"))
        pids = self.pids(job)
        self.assertEqual(sorted(pids), [0, 1, 2])
        ports = set()
        for pid in pids.values():
            (address, port), = self.listeners(pid)
            self.assertEqual(address, "127.0.0.1")
            ports.add(port)
        self.assertEqual(len(ports), 3)
        self.assertEqual(self.listeners(daemon_of(job.pid)), [])
        self.finish(job, 3)

    def test_a_job_without_tcp_has_no_socket(self):
        job = self.running_ring(2)
        for pid in self.pids(job).values():
            self.assertEqual(self.listeners(pid), [])
        self.finish(job, 2)

    def test_children_of_a_task_do_not_have_its_sockets(self):
        program = self.compile(r"""
int main(void) { int n, me; mpc_environ(&n, &me); mpc_sync(ALLGRP);
                 return system("! ls -l /proc/self/fd | grep socket:"); }""")
        self.ok(poe(program, "-procs", "2", "-euilib", "ip", env=clean_environment(MP_PMIX="no")))

    def test_a_lost_listening_socket_is_told(self):
        program = self.compile("int main(void) { int n, me; return mpc_environ(&n, &me) ? 5 : 0; }")
        script = f"for fd in $(ls /proc/$$/fd); do [ $fd -gt 2 ] && eval \"exec $fd>&-\"; done; exec {program}"
        result = poe("bash", "-c", script, "-procs", "2", "-euilib", "ip")
        self.assertIn(b"listening socket that this task should have inherited", result.stderr)


class Strangers(TcpTest):
    def test_no_stranger_disturbs_the_job(self):
        job = self.running_ring(4, "-euilib", "ip")
        draw = random.Random(1995)
        held = []
        targets = [self.listeners(pid)[0] for pid in self.pids(job).values()]
        for turn in range(600):
            task = draw.randrange(4)
            stranger = socket.create_connection(targets[task], timeout=20)
            kind = turn % 5
            try:
                if kind == 1:
                    stranger.sendall(draw.randbytes(draw.randrange(1, 5000)))
                elif kind == 2:  # as a task that is there, twice the same, then without the key
                    hello = struct.pack("<4sIQii", b"PMPL", 3, 0, (task + 1) % 4, task) + bytes(32)
                    stranger.sendall(hello)
                    challenge = stranger.recv(72)
                    self.assertEqual(len(challenge), 72)
                    stranger.sendall(challenge[40:] if turn % 2 else draw.randbytes(32))
                    self.assertEqual(stranger.recv(100), b"")
                elif kind == 3:
                    stranger.sendall(draw.randbytes(20))
                elif kind == 4:
                    stranger.close()
            except OSError:
                pass  # dropped before it was done
            held.append(stranger)
        self.finish(job, 4)
        for stranger in held:
            stranger.close()


class Ends(TcpTest):
    def test_what_was_sent_arrives_though_the_sender_exits(self):
        program = self.compile(r"""
static char big[3000000];
int main(void) {
    int n, me, got, type = 1, zero = 0; mpc_environ(&n, &me);
    if (me == 0) {   /* sends and is gone, before anybody has asked for anything */
        for (int to = 1; to < n; ++to) mpc_bsend(&to, sizeof to, to, 1);
        for (int to = 1; to < n; ++to) for (int i = 0; i < 40; ++i) { memset(big, i, 60000); mpc_bsend(big, 60000, to, 2); }
        for (int to = 1; to < n; ++to) { memset(big, to, sizeof big); mpc_bsend(big, sizeof big, to, 3); }
        return 0;
    }
    for (volatile long i = 0; i < 100000000; ++i);
    int value = 0, any = DONTCARE;
    if (mpc_brecv(&value, sizeof value, &zero, &type, &got) || value != me) return 3;
    for (int i = 0; i < 40; ++i) { type = 2; any = DONTCARE;
        if (mpc_brecv(big, sizeof big, &any, &type, &got) || got != 60000 || big[59999] != i) return 4; }
    /* the others are still there */
    for (int i = 0; i < 100 && n > 2; ++i) { int peer = 3 - me, t = 5; mpc_bsend(&i, sizeof i, peer, 5);
        if (mpc_brecv(&value, sizeof value, &peer, &t, &got) || value != i) return 5; }
    type = 3; zero = 0;
    if (mpc_brecv(big, sizeof big, &zero, &type, &got) || got != sizeof big || big[2999999] != me) return 6;
    return 0;
}""")
        for tasks in ("2", "3"):
            result = self.ok(poe(program, "-procs", tasks, "-euilib", "ip"))
            self.assertEqual(result.stderr, b"")

    def test_waiting_for_a_task_that_has_ended_is_an_error_that_names_it(self):
        program = self.compile(r"""
int main(void) { int n, me, x, got, from = 1, type = 1; mpc_environ(&n, &me); mpc_sync(ALLGRP);
                 if (me == 1) return 0;
                 return mpc_brecv(&x, sizeof x, &from, &type, &got) == -1 && mperrno == 111 ? 0 : 3; }""")
        result = self.ok(poe(program, "-procs", "2", "-euilib", "ip"))
        self.assertRegex(result.stderr, rb"0032-111 mpc_brecv in task 0 .*\(the connection to task 1 on \S+ was lost\)")

    def test_a_task_killed_in_the_middle_of_traffic_is_what_the_report_names(self):
        for tasks, victim in ((2, 0), (2, 1), (8, 5)):
            job = self.running_ring(tasks, "-euilib", "ip")
            os.kill(self.pids(job)[victim], signal.SIGKILL)
            _, err = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 137, err)
            self.assertRegex(err, rb"(?m)^ERROR: 0031-250  task %d .*SIGKILL" % victim)
            self.assertNotIn(b"0032-", err)


if __name__ == "__main__":
    main()
