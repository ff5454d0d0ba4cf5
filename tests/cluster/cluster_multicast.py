#!/usr/bin/env python3
"""Collective calls by multicast over real hosts: the network loses datagrams, carries no multicast, or a member is killed.
The results are compared byte by byte by the program; counters of the hosts show which way the data went."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from hosts import BUILD, DEADLINE, ClusterTest, command_on, host_processes, main, wait_for

MPTUNE = BUILD / "bin" / "mptune"
MPL_COLLECTIVES = BUILD / "bin" / "mpl_collectives"
HOST_COUNT = 4
SLOW_HOSTS = range(16)
PACKET = 1408  # bytes of data in a datagram

# Calls with blocks of LENGTH bytes and roots in turns, each checked; CALLS "-1" does not end. OPERATION is bcast, bcast-from-0,
# scatter, concat, or scatterv or concatv, whose blocks have up to LENGTH bytes, and that of task 1 none.
PROGRAM = r"""
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t n;
static int tasks, task;

static unsigned char value(size_t k, int call, int owner) {
    return (unsigned char)(k * 7 + (size_t)call + 31 * (size_t)owner + k / 251);
}
static void fill(unsigned char *block, int call, int owner) {
    for (size_t k = 0; k < n; k++) block[k] = value(k, call, owner);
}
static int differs_in(const unsigned char *block, size_t length, int call, int owner) {
    for (size_t k = 0; k < length; k++)
        if (block[k] != value(k, call, owner)) return 1;
    return 0;
}
static int differs(const unsigned char *block, int call, int owner) {
    return differs_in(block, n, call, owner);
}
static size_t length_of(int owner) {
    return owner == 1 ? 0 : n - (size_t)owner * 13 % n;
}

int main(int argc, char **argv) {
    int wrong = 0;
    n = (size_t)atol(argv[1]);
    const int calls = atoi(argv[2]);
    const char *what = argc > 3 ? argv[3] : "bcast";
    mpc_environ(&tasks, &task);
    unsigned char *out = malloc(n * (size_t)tasks), *in = malloc(n * (size_t)tasks);
    for (int call = 0; calls < 0 || call < calls; call++) {
        const int root = strcmp(what, "bcast-from-0") == 0 ? 0 : call % tasks;
        while (argc > 4 && call == calls - 1 && access(argv[4], F_OK) != 0) usleep(1000);
        memset(in, 0, n * (size_t)tasks);
        if (strncmp(what, "bcast", 5) == 0) {
            if (task == root) fill(in, call, root);
            if (mpc_bcast(in, n, root, 0) < 0) return 2;
            wrong += differs(in, call, root);
        } else if (strcmp(what, "scatter") == 0) {
            for (int t = 0; t < tasks && task == root; t++) fill(out + (size_t)t * n, call, t);
            if (mpc_scatter(out, in, n, root, 0) < 0) return 2;
            wrong += differs(in, call, task);
        } else if (strcmp(what, "scatterv") == 0) {
            int lengths[64];
            size_t at = 0;
            for (int t = 0; t < tasks; at += length_of(t++)) {
                lengths[t] = (int)length_of(t);
                for (size_t k = 0; k < length_of(t) && task == root; k++) out[at + k] = value(k, call, t);
            }
            if (mpc_scatterv(out, in, lengths, root, 0) < 0) return 2;
            wrong += differs_in(in, length_of(task), call, task);
        } else if (strcmp(what, "concatv") == 0) {
            int lengths[64];
            size_t at = 0;
            for (int t = 0; t < tasks; t++) lengths[t] = (int)length_of(t);
            fill(out, call, task);
            if (mpc_concatv(out, in, lengths, 0) < 0) return 2;
            for (int t = 0; t < tasks; at += length_of(t++)) wrong += differs_in(in + at, length_of(t), call, t);
        } else {
            fill(out, call, task);
            if (mpc_concat(out, in, n, 0) < 0) return 2;
            for (int t = 0; t < tasks; t++) wrong += differs(in + (size_t)t * n, call, t);
        }
        if (call == 3) {
            printf("task %d has begun\n", task);
            fflush(stdout);
        }
    }
    printf("task %d: %d wrong\n", task, wrong);
    free(out), free(in);
    return wrong != 0;
}
"""


class Multicast(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = pathlib.Path("/run/testbed/broadcasts.c")
        cls.program = pathlib.Path("/run/testbed/broadcasts")
        cls.source.write_text(PROGRAM)
        subprocess.run([BUILD / "bin" / "mpcc", cls.source, "-O1", "-o", cls.program], check=True)

    def flags(self, hosts=tuple(range(HOST_COUNT))):
        return "-procs", len(hosts), "-hostfile", self.host_file(list(hosts))

    @contextlib.contextmanager
    def dropping(self, hosts, *rule):
        """These hosts drop what matches the rule when it arrives, each by itself."""
        table = ("ip", "poe_test")
        def nft(host, *words):
            subprocess.run(command_on(host, "nft", *words), check=True, timeout=30)
        for host in hosts:
            nft(host, "add", "table", *table)
            nft(host, "add", "chain", *table, "arriving", "{ type filter hook prerouting priority raw; }")
            nft(host, "add", "rule", *table, "arriving", *rule, "drop")
        try:
            yield
        finally:
            for host in hosts:
                nft(host, "delete", "table", *table)

    def arrived(self, host):
        """What has arrived at this host by multicast: the bytes, with headers, and the packets. The kernel counts a train of
        datagrams as one packet."""
        text = subprocess.run(command_on(host, "cat", "/proc/net/netstat"), check=True, capture_output=True, text=True).stdout
        names, values = (line.split() for line in text.splitlines() if line.startswith("IpExt:"))
        counts = dict(zip(names, values))
        return int(counts["InMcastOctets"]), int(counts["InMcastPkts"])

    def broadcasts(self, length, calls, hosts=tuple(range(HOST_COUNT)), operation="bcast", **env):
        """The number of bytes that host 1 gets by multicast while the calls run."""
        before, _ = self.arrived(1)
        result = self.ok(self.poe(self.program, length, calls, operation, *self.flags(hosts), env=env))
        self.assertEqual(sorted(line for line in result.stdout.splitlines() if "wrong" in line),
                         sorted(f"task {task}: 0 wrong" for task in range(len(hosts))))
        self.assertEqual(result.stderr, "")
        return self.arrived(1)[0] - before

    def test_named_and_switched_off(self):
        self.assertGreater(self.broadcasts(300_000, 8, MP_MULTICAST="yes"), 4 * 300_000)
        self.assertGreater(self.broadcasts(300_000, 8, MP_COLL_BCAST="multicast"), 4 * 300_000)
        self.assertEqual(self.broadcasts(300_000, 8, MP_MULTICAST="no"), 0)
        self.assertEqual(self.broadcasts(300_000, 8, MP_COLL_BCAST="binomial"), 0)

    def test_scatter_and_concat(self):
        # Each of them sends the blocks of all members to all.
        all_blocks = HOST_COUNT * 100_000
        for operation in ("scatter", "concat"):
            name = f"MP_COLL_{operation.upper()}"
            with self.subTest(operation=operation):
                self.assertGreater(self.broadcasts(100_000, 8, operation=operation, **{name: "multicast"}), 4 * all_blocks)
                self.assertEqual(self.broadcasts(100_000, 8, operation=operation, MP_MULTICAST="no"), 0)
                for length in (1, 5000):
                    self.assertGreater(self.broadcasts(length, 5, operation=operation, **{name: "multicast"}), 0)

    def test_blocks_of_unequal_length(self):
        all_blocks = (HOST_COUNT - 1) * 99_000
        for operation in ("scatterv", "concatv"):
            name = f"MP_COLL_{operation.removesuffix('v').upper()}"
            with self.subTest(operation=operation):
                self.assertGreater(self.broadcasts(100_000, 8, operation=operation, **{name: "multicast"}), 4 * all_blocks)
                self.assertGreater(self.broadcasts(100_000, 8, operation=operation, MP_MULTICAST="yes"), 4 * all_blocks)
                self.assertEqual(self.broadcasts(100_000, 8, operation=operation, MP_MULTICAST="no"), 0)

    def test_scatter_and_concat_that_lose_datagrams(self):
        with self.dropping(range(HOST_COUNT), "ip", "protocol", "udp", "numgen", "random", "mod", "100", "<", "10"):
            for operation in ("scatter", "scatterv", "concat", "concatv"):
                with self.subTest(operation=operation):
                    self.assertGreater(self.broadcasts(50_000, 6, operation=operation, MP_MULTICAST="yes"), 0)

    def tuning_for_slow_network(self, *more):
        """A file after which multicast is predicted to be faster than messages, and more lines of it."""
        path = pathlib.Path("/run/testbed/slow.tuning")
        path.write_text("\n".join(("level network", "start_up 100", "per_byte 0.08", *more, "")))
        return path

    def test_automatic(self):
        # The first calls go by messages, until all members know that the network carries multicast.
        tuning = self.tuning_for_slow_network()
        self.assertGreater(self.broadcasts(300_000, 60, MP_TUNEFILE=tuning), 3 * 300_000)
        self.assertEqual(self.broadcasts(300_000, 60, MP_TUNEFILE=tuning, MP_MULTICAST="no"), 0)

    def test_measured_best(self):
        # What mptune -table has recorded counts, whatever the model predicts.
        tuning = self.tuning_for_slow_network("best bcast 300000 4 chain:4")
        self.assertEqual(self.broadcasts(300_000, 20, MP_TUNEFILE=tuning), 0)
        tuning = self.tuning_for_slow_network("per_byte 0.0001", "best bcast 300000 4 multicast")
        self.assertGreater(self.broadcasts(300_000, 60, MP_TUNEFILE=tuning), 3 * 300_000)

    def test_measured_costs(self):
        # The costs of multicast in a tuning file decide, whatever messages cost.
        tuning = self.tuning_for_slow_network("multicast 1000000", "multicast_per_byte 0.001")
        self.assertEqual(self.broadcasts(300_000, 20, MP_TUNEFILE=tuning), 0)
        tuning = self.tuning_for_slow_network("start_up 10", "per_byte 0.001", "multicast 1", "multicast_per_byte 0.0001")
        self.assertGreater(self.broadcasts(300_000, 60, MP_TUNEFILE=tuning), 3 * 300_000)

    def test_mptune_measures_the_costs(self):
        file = pathlib.Path("/run/testbed/measured.tuning")
        facts = r"(?m)^multicast [0-9.e+-]+\nmulticast_per_byte [0-9.e+-]+$"
        # Two tasks of a host: one of each takes part.
        for hosts in ((0, 1, 2, 3), (0, 0, 1, 1)):
            file.unlink(missing_ok=True)
            result = self.ok(self.poe(MPTUNE, "-o", file, *self.flags(hosts)))
            self.assertRegex(result.stdout, rf"(?m)^broadcast by multicast, {len(set(hosts))} tasks$")
            self.assertRegex(file.read_text().split("level network")[1], facts)
        file.unlink()
        with self.dropping(range(HOST_COUNT), "ip", "daddr", "239.0.0.0/8"):
            result = self.ok(self.poe(MPTUNE, "-o", file, "-longest", "128k", *self.flags()))
        self.assertIn("no multicast between these tasks\n", result.stdout)
        self.assertNotIn("multicast", file.read_text())

    @contextlib.contextmanager
    def shaped(self, rate, hosts=range(HOST_COUNT)):
        """Each of these hosts sends and gets so much, in bursts of up to 64 KB, as with --rate of the test bed."""
        bucket = ("root", "tbf", "rate", rate, "burst", "64kb", "latency", "100ms")
        ends = [end for host in hosts for end in (("tc",), command_on(host, "tc"))]
        devices = [device for host in hosts for device in (f"port{host}", "eth0")]
        with contextlib.ExitStack() as stack:
            for tc, device in zip(ends, devices):
                subprocess.run([*tc, "qdisc", "add", "dev", device, *bucket], check=True, timeout=30)
                stack.callback(subprocess.run, [*tc, "qdisc", "delete", "dev", device, "root"], check=True, timeout=30)
            yield

    def test_slow_network_is_noticed(self):
        # By the built-in costs, broadcasts of this length go by messages. A job on a busy computer may learn nothing, because
        # segments are repeated or acknowledgements are late. Without the measurement, no job would use multicast.
        with self.shaped("100mbit", SLOW_HOSTS):
            sent = 0
            for _ in range(6):
                sent = self.broadcasts(1_000_000, 20, SLOW_HOSTS, "bcast-from-0")
                if sent > 2 * 1_000_000:
                    return
        self.fail(f"none of six jobs used multicast; the last one sent {sent} bytes by it")

    def test_connections_are_made_during_multicast(self):
        # Reports go to each root for the first time while the next broadcast arrives.
        with self.shaped("100mbit", SLOW_HOSTS):
            for _ in range(4):
                self.assertGreater(self.broadcasts(300_000, 12, SLOW_HOSTS, MP_MULTICAST="yes"), 8 * 300_000)

    def test_mptune_is_not_deceived_by_bursts(self):
        # Round trips of up to 64 KB pass at twice the rate, because the allowance of one end grows while the other one answers. A
        # byte of a long message takes 0.08 us at least.
        file = pathlib.Path("/run/testbed/shaped.tuning")
        with self.shaped("100mbit"):
            self.ok(self.poe(MPTUNE, "-o", file, *self.flags()))
            cost = re.search(r"(?m)^per_byte ([0-9.e-]+)$", file.read_text().split("level network")[1])[1]
            self.assertGreater(float(cost), 0.06)
            self.broadcasts(1_000_000, 8, MP_TUNEFILE=file)

    def test_two_levels_without_multicast_in_the_network(self):
        # Two levels count on multicast among the hosts. In the first call, their leaders find that the network carries none;
        # then all tasks take the algorithm that is best without it.
        tuning = self.tuning_for_slow_network("best bcast 300000 8 chain:8")
        hosts, calls, trace = (0, 0, 1, 1, 2, 2, 3, 3), 10, "/run/testbed/levels.trc"
        for dropped, first in ((True, 1), (False, calls)):
            with self.subTest(dropped=dropped), contextlib.ExitStack() as stack:
                if dropped:
                    stack.enter_context(self.dropping(range(HOST_COUNT), "ip", "daddr", "239.0.0.0/8"))
                self.ok(self.poe(self.program, 300_000, calls, *self.flags(hosts), "-tracelevel", 9, "-tracefile", trace,
                                 env={"MP_TUNEFILE": tuning, "MP_MULTICAST": "yes"}))
                summary = subprocess.run([BUILD / "bin" / "vt", "-summary", trace], check=True, capture_output=True, text=True).stdout
                ways = re.search(r"CARRIED OUT BY\n((?:.+\n)+)", summary)[1]
                found = {way: int(count) for count, way in re.findall(r"(?m)^mpc_bcast +(\d+) .* (\S+)$", ways)}
                self.assertEqual(found.pop("hierarchical"), first * len(hosts), ways)
                self.assertEqual(sum(found.values()), (calls - first) * len(hosts), ways)

    def test_candidate_of_mptune(self):
        for operation in ("bcast", "scatter", "concat"):
            with self.subTest(operation=operation):
                result = self.ok(self.poe(MPTUNE, "-explain", operation, 300_000, HOST_COUNT, *self.flags()))
                self.assertRegex(result.stdout, r"(?m)^multicast +[0-9.]+ +[0-9.]+")

    def test_automatic_without_multicast_in_the_network(self):
        tuning = self.tuning_for_slow_network()
        for hosts in (range(HOST_COUNT), (2,)):
            with self.subTest(hosts=hosts), self.dropping(hosts, "ip", "daddr", "239.0.0.0/8"):
                self.assertLess(self.broadcasts(300_000, 60, MP_TUNEFILE=tuning), 3 * 300_000)

    def test_broadcasts_of_some_packets(self):
        # They go by multicast, too; shorter ones, and scatters and concats of this length do not. The calls are short, so that many
        # of them may pass before the members know that the network carries multicast.
        tuning = self.tuning_for_slow_network()
        self.assertGreater(self.broadcasts(12_000, 1500, MP_TUNEFILE=tuning), 100 * 12_000)
        self.assertEqual(self.broadcasts(1000, 60, MP_TUNEFILE=tuning), 0)
        for operation in ("scatter", "concat"):
            self.assertEqual(self.broadcasts(12_000, 60, operation=operation, MP_TUNEFILE=tuning), 0)

    def test_trains(self):
        _, before = self.arrived(1)
        length = self.broadcasts(1_000_000, 8, MP_MULTICAST="yes")
        _, after = self.arrived(1)
        self.assertGreater(length, 4 * PACKET * (after - before))

    def test_frames_that_are_shorter_than_a_datagram(self):
        # The kernel refuses trains then, and divides each datagram.
        def set_length(length):
            for host in range(HOST_COUNT):
                subprocess.run(command_on(host, "ip", "link", "set", "eth0", "mtu", str(length)), check=True, timeout=30)
        self.addCleanup(set_length, 1500)
        set_length(1400)
        self.assertGreater(self.broadcasts(1_000_000, 8, MP_MULTICAST="yes"), 6 * 1_000_000)

    def test_lengths(self):
        for length in (1, PACKET - 1, PACKET, PACKET + 1, 3_000_000):
            with self.subTest(length=length):
                self.assertGreater(self.broadcasts(length, 5, MP_MULTICAST="yes"), 0)

    def test_several_tasks_on_each_host(self):
        # One task of each host takes part in the multicast; the others get the data in shared memory.
        self.assertGreater(self.broadcasts(300_000, 6, [0, 0, 1, 1, 2, 2, 3, 3], MP_MULTICAST="yes"), 3 * 300_000)

    def test_random_calls_on_random_groups(self):
        result = self.ok(self.poe(MPL_COLLECTIVES, 4000, 3, 10, *self.flags(), env={"MP_MULTICAST": "yes"}))
        self.assertEqual(result.stderr, "")
        # Several tasks on each host, and a network without multicast: they choose again in the same call.
        for hosts in ((0, 0, 1, 1, 2, 2, 3, 3), (0, 1, 1, 2, 2, 2, 3)):
            with self.subTest(hosts=hosts), self.dropping(range(HOST_COUNT), "ip", "daddr", "239.0.0.0/8"):
                result = self.ok(self.poe(MPL_COLLECTIVES, 4100, 3, 10, *self.flags(hosts), env={"MP_MULTICAST": "yes"}))
                self.assertEqual(result.stderr, "")

    def test_loss_at_each_receiver(self):
        # Connections lose nothing, so what is repaired is multicast.
        for percent in (1, 10):
            with self.subTest(percent=percent), self.dropping(
                    range(HOST_COUNT), "ip", "protocol", "udp", "numgen", "random", "mod", "100", "<", str(percent)):
                self.assertGreater(self.broadcasts(1_000_000, 8, MP_MULTICAST="yes"), 6 * 1_000_000)

    def test_no_multicast_in_the_network(self):
        # Only probes are sent then, and nothing is said about it.
        for hosts in (range(HOST_COUNT), (2,)):
            with self.subTest(hosts=hosts), self.dropping(hosts, "ip", "daddr", "239.0.0.0/8"):
                self.assertLess(self.broadcasts(300_000, 40, MP_MULTICAST="yes"), 10 * 300_000)

    def test_multicast_stops_during_a_job(self):
        # As if a switch forgot the members: the packets then go to each member by unicast.
        job = self.start(self.program, 300_000, 20, *self.flags(), env={"MP_MULTICAST": "yes"})
        self.assertIn("has begun", job.stdout.readline())
        with self.dropping(range(HOST_COUNT), "ip", "daddr", "239.0.0.0/8"):
            out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual((job.returncode, err), (0, ""))
        self.assertEqual(out.count(": 0 wrong"), HOST_COUNT)

    def test_member_ends_while_another_waits_for_data(self):
        # Host 0 gets no datagram of the last call, whose root is task 3, until tasks 1 and 2 have their data and have ended.
        go = pathlib.Path("/run/testbed/last_call")
        job = self.start(self.program, 30_000, 8, "bcast", go, *self.flags(), env={"MP_MULTICAST": "yes"})
        for _ in range(HOST_COUNT):
            self.assertIn("has begun", job.stdout.readline())
        def running(host):
            return any(command.startswith(str(self.program)) for command in host_processes(host).values())
        with self.dropping([0], "ip", "protocol", "udp"):
            go.touch()
            wait_for(lambda: not running(1) and not running(2), "tasks 1 and 2 to end")
            self.assertTrue(running(0) and running(3))
            time.sleep(0.5)
        out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual((job.returncode, err), (0, ""))
        self.assertEqual(out.count(": 0 wrong"), HOST_COUNT)

    def test_member_is_killed(self):
        for victim in (0, 2):
            with self.subTest(victim=victim):
                job = self.start(self.program, 1_000_000, -1, *self.flags(), env={"MP_MULTICAST": "yes"})
                for _ in range(HOST_COUNT):
                    self.assertIn("has begun", job.stdout.readline())
                task = next(pid for pid, command in host_processes(victim).items() if command.startswith(str(self.program)))
                os.kill(task, signal.SIGKILL)
                _, err = job.communicate(timeout=DEADLINE)
                self.assertIn(f"task {victim} (node node{victim}, {self.program}) killed by SIGKILL", err)
                self.assertNotEqual(job.returncode, 0)


if __name__ == "__main__":
    main(len(SLOW_HOSTS))
