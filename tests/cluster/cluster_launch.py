"""Jobs over several hosts: every task comes up where it should, in the surroundings that it should have,
and MPL runs between them."""

import os
import re
import stat
import subprocess
import unittest

from hosts import EXAMPLES, HOSTS, ClusterTest, command_on, main
from launching import POE, clean_environment

ALL = range(16)


class Launch(ClusterTest):
    def map_of(self, result):
        return {int(task): node for task, node in re.findall(r"^ *(\d+):(\S+)$", result.stdout, re.M)}

    def hostnames(self, hosts, tasks_each=1, **options):
        hosts = list(hosts)
        result = self.ok(self.poe("hostname", "-procs", len(hosts) * tasks_each, "-labelio", "yes",
                                  "-hostfile", self.host_file(hosts, tasks_each), **options))
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.map_of(result), {i: f"node{host}" for i, host in enumerate(
            [host for host in hosts for _ in range(tasks_each)])})

    def test_two_hosts(self):
        self.hostnames([0, 1])

    def test_home_is_not_one_of_them(self):
        self.hostnames([3, 2])

    def test_one_other_host(self):
        self.hostnames([5], tasks_each=3)

    def test_sixteen_hosts_with_four_tasks_each(self):
        self.hostnames(ALL, tasks_each=4)

    def test_trees(self):
        for fanout in (1, 2, 3):
            with self.subTest(fanout=fanout):
                self.hostnames(range(9), env={"MP_LAUNCH_FANOUT": fanout})

    def test_tree_whose_home_is_deep(self):
        self.hostnames([4, 3, 2, 1, 5, 6, 0], env={"MP_LAUNCH_FANOUT": 2})

    def test_flat_where_hosts_may_not_reach_each_other(self):
        shell = self.write("only-from-home", '#!/bin/sh\n[ "$(hostname)" = node0 ] || { echo not from here >&2; exit 255; }\n'
                           'exec ssh "$@"\n', 0o755)
        self.hostnames(range(7), env={"MP_LAUNCH_FANOUT": 2, "MP_REMOTE_SHELL": shell})

    def test_status_is_the_largest(self):
        result = self.poe("sh", "-c", "exit $((MP_CHILD + 3))", "-procs", 4, "-hostfile", self.host_file(range(4)))
        self.ok(result, 6)

    def test_surroundings(self):
        script = 'echo "$PWD|$(umask)|$(ulimit -S -c)|$FROM_HOME|$DISPLAY|$MP_PROCS|$MP_CHILD"'
        poe = f"umask 027; ulimit -S -c 0; exec {POE} \"$@\""
        result = subprocess.run(
            command_on(0, "sh", "-c", poe, "sh", "sh", "-c", script, "-procs", 2, "-hostfile", self.host_file([1, 2])),
            env=clean_environment(FROM_HOME="yes it is", DISPLAY=":7"), cwd=self.folder.name, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.ok(result)
        self.assertEqual(sorted(result.stdout.split("\n")[:2]),
                         [f"{self.folder.name}|0027|0|yes it is||2|{task}" for task in (0, 1)])

    def test_another_directory_there(self):
        os.mkdir(self.path("there"))
        result = self.ok(self.poe("pwd", "-procs", 2, "-labelio", "yes", "-hostfile", self.host_file([0, 1]),
                                  env={"MP_REMOTEDIR": f"echo {self.path('there')}"}))
        self.assertEqual(sorted(result.stdout.split()), ["0:" + self.folder.name, "1:" + self.path("there")])

    def test_standard_input_reaches_all(self):
        lines = "".join(f"line {i}\n" for i in range(20000))
        result = self.ok(self.poe("md5sum", "-procs", 9, "-hostfile", self.host_file(range(9)), input=lines,
                                  env={"MP_LAUNCH_FANOUT": 2}))
        self.assertEqual(len(result.stdout.split("\n")), 10)
        self.assertEqual(len(set(result.stdout.split("\n")[:9])), 1)

    def test_standard_input_for_one(self):
        result = self.ok(self.poe("wc", "-c", "-procs", 7, "-stdinmode", 6, "-labelio", "yes", "-hostfile",
                                  self.host_file(range(7)), input="x" * 3000000, env={"MP_LAUNCH_FANOUT": 2}))
        self.assertEqual(sorted(result.stdout.split("\n"))[1:], [f"   {t}:{3000000 if t == 6 else 0}" for t in range(7)])

    def test_much_output_through_a_tree(self):
        program = 'i=0; while [ $i -lt 3000 ]; do echo "$MP_CHILD $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; i=$((i+1)); done'
        result = self.ok(self.poe("sh", "-c", program, "-procs", 14, "-hostfile", self.host_file(range(7), 2),
                                  env={"MP_LAUNCH_FANOUT": 2}))
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 14 * 3000)
        for task in range(14):
            self.assertEqual([int(line.split()[1]) for line in lines if line.startswith(f"{task} ")], list(range(3000)))

    def test_ordered_output(self):
        result = self.ok(self.poe("sh", "-c", "echo $MP_CHILD; echo again $MP_CHILD", "-procs", 9, "-stdoutmode", "ordered",
                                  "-hostfile", self.host_file(range(9)), env={"MP_LAUNCH_FANOUT": 3}))
        self.assertEqual(result.stdout, "".join(f"{t}\nagain {t}\n" for t in range(9)))


class Messages(ClusterTest):
    def test_ring_over_all(self):
        result = self.ok(self.poe(EXAMPLES / "ring", "-procs", 16, "-hostfile", self.host_file(ALL)))
        self.assertEqual(len(re.findall(r"task \d+ of 16 on node\d+ got", result.stdout)), 16)

    def test_ring_with_neighbours_and_a_tree(self):
        result = self.ok(self.poe(EXAMPLES / "ring", "-procs", 32, "-hostfile", self.host_file(ALL, 2),
                                  env={"MP_LAUNCH_FANOUT": 3}))
        self.assertEqual(len(re.findall(r"task \d+ of 32 on node\d+ got", result.stdout)), 32)

    def test_word_count(self):
        text = self.write("text", "the cat saw the dog and the dog saw the moon\n" * 500)
        result = self.ok(self.poe(EXAMPLES / "wordcount", text, "-procs", 16, "-hostfile", self.host_file(ALL)))
        self.assertIn("2000 the", result.stdout)

    def test_fortran(self):
        result = self.ok(self.poe(EXAMPLES / "hello", "-procs", 16, "-hostfile", self.host_file(ALL)))
        self.assertEqual(len(result.stdout.splitlines()), 16)

    def test_by_the_interface_that_is_asked_for(self):
        self.ok(self.poe(EXAMPLES / "ring", "-procs", 3, "-euidevice", "eth0", "-hostfile", self.host_file(range(3))))
        result = self.ok(self.poe(EXAMPLES / "ring", "-procs", 2, "-euidevice", "eth9", "-hostfile",
                                  self.host_file(range(2))), 1)
        self.assertIn("eth9", result.stderr)

    def test_the_key_is_nowhere_to_be_read(self):
        script = self.write("look", "#!/bin/sh\nfor p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done; "
                            "stat -c '%a %n' /dev/shm/poe-*/*\n", 0o755)
        result = self.ok(self.poe(script, "-procs", 2, "-hostfile", self.host_file([1, 2])))
        modes = re.findall(r"^(\d+) (/dev/shm/\S+)$", result.stdout, re.M)
        self.assertTrue(any(name.endswith("segment") for _, name in modes))
        for mode, name in modes:
            self.assertEqual(int(mode, 8) & (stat.S_IRWXG | stat.S_IRWXO), 0, name)
        commands = [line for line in result.stdout.splitlines() if "pmd --channel" in line or "ssh" in line]
        self.assertTrue(commands)
        self.assertFalse([line for line in commands if re.search(r"[0-9a-f]{32}", line)])


class Missing(ClusterTest):
    """What is not there is said in words that name it, and where."""

    def said(self, *args, status=1, **options):
        result = self.ok(self.poe(*args, **options), status)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_host_that_does_not_exist(self):
        text = self.said("hostname", "-procs", 2, "-hostfile", self.write("hosts", "node1\nno-such-host\n"))
        self.assertIn("no-such-host", text)
        self.assertIn("ssh", text)

    def test_host_with_two_names(self):
        address = re.search(r"inet ([0-9.]+)/", subprocess.run(command_on(1, "ip", "-4", "address", "show", "dev", "eth0"),
                                                               capture_output=True, text=True, check=True).stdout)[1]
        text = self.said("hostname", "-procs", 2, "-hostfile", self.write("hosts", f"{address}\nnode1\n"))
        self.assertRegex(text, "^ERROR: 0031-253  node .*: another daemon of this job is on the same computer; if the host file ")

    def test_program_on_one_host_only(self):
        # The same path, but each host has a /dev/shm of its own.
        subprocess.run(command_on(0, "cp", "/bin/hostname", "/dev/shm/my-hostname"), check=True)
        self.addCleanup(subprocess.run, command_on(0, "rm", "/dev/shm/my-hostname"))
        text = self.said("/dev/shm/my-hostname", "-procs", 4, "-hostfile", self.host_file(range(4)), status=255)
        self.assertRegex(text, r"tasks? [123,-]+ \(nodes? node\d\S*\) cannot run \"/dev/shm/my-hostname\": there is no such file")

    def test_directory(self):
        text = self.said("hostname", "-procs", 2, "-hostfile", self.host_file([0, 1]),
                         env={"MP_REMOTEDIR": "echo /no/such/directory"})
        self.assertIn("node node1: cannot enter the working directory /no/such/directory", text)

    def test_daemon(self):
        shell = self.write("other-root", "#!/bin/sh\nnode=$1\nshift\nexec ssh $node mount -t tmpfs none "
                           f"{os.path.dirname(POE)} '&&' PATH=/bin:/usr/bin \"$@\"\n", 0o755)
        text = self.said("hostname", "-procs", 1, "-hostfile", self.host_file([15]), env={"MP_REMOTE_SHELL": shell})
        subprocess.run(command_on(15, "umount", os.path.dirname(POE)), check=True)
        self.assertIn("node15", text)
        self.assertIn("MP_PMD", text)

    def test_another_version(self):
        old = self.write("pmd", "#!/bin/sh\nprintf '\\007\\000\\000\\000\\001\\000\\000\\000\\377\\377\\377\\377"
                         "\\202\\000\\202\\001\\031\\001\\001'; exec cat >/dev/null\n", 0o755)
        shell = self.write("to-old", f"#!/bin/sh\nnode=$1\nexec ssh $node {old}\n", 0o755)
        text = self.said("hostname", "-procs", 1, "-hostfile", self.host_file([1]), env={"MP_REMOTE_SHELL": shell})
        self.assertIn("another version of POE", text)

    def test_shell_that_talks(self):
        shell = self.write("talks", "#!/bin/sh\necho Welcome to this cluster\nexec ssh \"$@\"\n", 0o755)
        text = self.said("hostname", "-procs", 1, "-hostfile", self.host_file([1]), env={"MP_REMOTE_SHELL": shell})
        self.assertIn("Welcome to", text)

    def test_remote_shell(self):
        text = self.said("hostname", "-procs", 1, "-hostfile", self.host_file([1]), env={"MP_REMOTE_SHELL": "no-shell"})
        self.assertIn("no-shell", text)

    def test_slow_host(self):
        shell = self.write("slow", "#!/bin/sh\necho waiting for the weather >&2\nexec sleep 60\n", 0o755)
        text = self.said("hostname", "-procs", 1, "-hostfile", self.host_file([1]),
                         env={"MP_REMOTE_SHELL": shell, "MP_TIMEOUT": 5})
        self.assertIn("MP_TIMEOUT", text)
        self.assertIn("node1 (waiting for the weather)", text)


if __name__ == "__main__":
    assert HOSTS in (0, 16)
    unittest.TestCase.maxDiff = 4000
    main(16)
