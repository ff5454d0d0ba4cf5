"""Several programs that are one job over several hosts (-pgmmodel mpmd): who runs where, and MPL between them."""

import subprocess

from hosts import BUILD, HOSTS, ClusterTest, command_on, main

# Gives out the numbers 1 to 100, tells those who work on them when there are no more, and learns the sum.
GIVER = """#include <mpproto.h>
#include <stdio.h>
int main(void) {
    int tasks, me, last;
    long sum = 0;
    if (mpc_environ(&tasks, &me) != 0) return 1;
    last = tasks - 1;
    for (int i = 1; i <= 100 + tasks - 2; ++i) {
        int number = i <= 100 ? i : 0;
        if (mpc_bsend(&number, sizeof number, 1 + i % (tasks - 2), 1) != 0) return 1;
    }
    if (mpc_bcast(&sum, sizeof sum, last, ALLGRP) != 0) return 1;
    printf("giver is task %d of %d: %ld\\n", me, tasks, sum);
    return mpc_sync(ALLGRP) != 0;
}
"""
# Its argument says to which power numbers are raised.
WORKER = """#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    int tasks, me, number = -1, count = 0;
    long sum;
    if (argc != 2 || mpc_environ(&tasks, &me) != 0) return 1;
    while (number != 0) {
        int from = 0, type = 1;
        size_t got;
        long power = 1;
        if (mpc_brecv(&number, sizeof number, &from, &type, &got) != 0 || got != sizeof number) return 1;
        for (int i = 0; i < atoi(argv[1]); ++i) power *= number;
        if (mpc_bsend(&power, sizeof power, tasks - 1, 2) != 0) return 1;
        count += number != 0;
    }
    if (mpc_bcast(&sum, sizeof sum, tasks - 1, ALLGRP) != 0) return 1;
    printf("worker %s is task %d of %d: %d numbers, %ld\\n", argv[1], me, tasks, count, sum);
    return mpc_sync(ALLGRP) != 0;
}
"""
# Adds up what the workers send, whoever is first.
COLLECTOR = """program collector
    use mpl
    implicit none
    integer(8) :: sum, number
    integer :: tasks, me, source, type, nbytes, ended
    call mp_environ(tasks, me)
    sum = 0
    ended = 0
    do while (ended < tasks - 2)
        source = dontcare
        type = 2
        call mp_brecv(number, 8, source, type, nbytes)
        if (number == 0) ended = ended + 1
        sum = sum + number
    end do
    call mp_bcast(sum, 8, me, allgrp)
    print '(a,i0,a,i0,a,i0)', 'collector is task ', me, ' of ', tasks, ': ', sum
    call mp_sync(allgrp)
end program collector
"""


class Programs(ClusterTest):
    def setUp(self):
        super().setUp()
        for name, text, compiler in (("giver.c", GIVER, "mpcc"), ("worker.c", WORKER, "mpcc"), ("collector.f90", COLLECTOR, "mpfort")):
            subprocess.run([str(BUILD / "bin" / compiler), self.write(name, text), "-o", self.path(name.split(".")[0])],
                           check=True, cwd=self.folder.name)

    def mpmd(self, commands, hosts, each=1, **options):
        return self.poe("-pgmmodel", "mpmd", "-cmdfile", self.write("commands", "".join(line + "\n" for line in commands)),
                        "-procs", len(commands), "-hostfile", self.host_file(hosts, each), "-labelio", "yes", **options)

    def check_sums(self, powers, hosts, each, **env):
        """A giver, a worker for each of the powers, a collector."""
        tasks = len(powers) + 2
        got = self.ok(self.mpmd(["./giver", *(f"./worker {power}" for power in powers), "./collector"], hosts, each, env=env))
        given = [[i for i in range(1, 101) if i % len(powers) == which] for which in range(len(powers))]
        total = sum(number ** power for power, numbers in zip(powers, given) for number in numbers)
        expected = [f"{0:>4}:giver is task 0 of {tasks}: {total}"]
        for task, (power, numbers) in enumerate(zip(powers, given), 1):
            expected.append(f"{task:>4}:worker {power} is task {task} of {tasks}: {len(numbers)} numbers, {total}")
        expected.append(f"{tasks - 1:>4}:collector is task {tasks - 1} of {tasks}: {total}")
        self.assertEqual((sorted(got.stdout.splitlines()), got.stderr), (sorted(expected), ""))

    def test_each_on_a_host_of_its_own(self):
        self.check_sums((1, 2), range(4), 1)

    def test_several_on_a_host(self):
        self.check_sums((3, 1, 2, 2, 4, 1), range(4), 2)

    def test_in_a_tree(self):
        self.check_sums((2, 3, 2, 1, 1, 5), (3, 1, 0, 2), 2, MP_LAUNCH_FANOUT=1)

    def test_others_among_them(self):
        """Programs without MPL have a part, words with blanks arrive as such, and each is on its host."""
        got = self.ok(self.mpmd(["echo 'two  words' \"$HOME\"", "hostname", "sh -c 'echo $(hostname) $MP_CHILD of $MP_PROCS'", "hostname"],
                                range(4)))
        self.assertEqual(sorted(got.stdout.splitlines()), ["   0:two  words $HOME", "   1:node1", "   2:node2 2 of 4", "   3:node3"])

    def test_one_is_missing_on_its_host(self):
        """The same path names a program on two of the hosts only."""
        for host in (0, 1):
            subprocess.run(command_on(host, "cp", "/bin/hostname", "/dev/shm/one-of-them"), check=True)
            self.addCleanup(subprocess.run, command_on(host, "rm", "/dev/shm/one-of-them"))
        got = self.ok(self.mpmd(["/dev/shm/one-of-them", "/dev/shm/one-of-them", "/dev/shm/one-of-them", "hostname"], range(4)), 255)
        self.assertEqual(got.stdout, "")
        self.assertRegex(got.stderr, r"task 2 \(node node2\) cannot run \"/dev/shm/one-of-them\": there is no such file")

    def test_the_one_that_fails_is_named(self):
        got = self.ok(self.mpmd(["sleep 300", "sleep 300", "sh -c 'exit 7'", "./worker", "sleep 300"], range(4), 2), 1)
        self.assertRegex(got.stderr.splitlines()[0], r"task 3 \(node node1, ./worker\) exited with code 1")

    def test_steps(self):
        """With -newjob each line of the file is a job of all tasks."""
        got = self.ok(self.poe("-newjob", "yes", "-cmdfile", self.write("steps", "hostname\nsh -c 'echo again $(hostname)'\n"),
                               "-procs", 3, "-hostfile", self.host_file((2, 3, 1)), "-labelio", "yes"))
        lines = got.stdout.splitlines()
        self.assertEqual([sorted(lines[:3]), sorted(lines[3:])], [["   0:node2", "   1:node3", "   2:node1"],
                                                                  ["   0:again node2", "   1:again node3", "   2:again node1"]])


if __name__ == "__main__":
    assert HOSTS in (0, 4)
    main(4)
