"""pdbx over several hosts: one gdb on each, and one answer of all."""

import json
import shutil
import subprocess
import unittest

from hosts import BUILD, DEADLINE, EXAMPLES, SANITIZED, ClusterTest, command_on, main
from hosts import clean_environment, host_processes, testbed, wait_for

PDBX = str(BUILD / "bin" / "pdbx")
PROGRAM = str(EXAMPLES / "bugs" / "wrong_index")


@unittest.skipIf(SANITIZED or shutil.which("gdb") is None, "needs gdb, and programs without sanitizers")
class Debugger(ClusterTest):
    def command(self, commands, *flags):
        script = self.write("commands", "\n".join(commands) + "\n")
        return command_on(0, PDBX, "-batch", "-x", script, *flags)

    def reports(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def test_four_hosts(self):
        hosts = self.host_file(range(4), 2)
        result = subprocess.run(self.command(["break range_of if $task > 1", "cont", "where", "print task", "on 2,5 next", "tasks",
                                              "delete", "on stopped cont"], PROGRAM, "-procs", "8", "-hostfile", hosts),
                                capture_output=True, text=True, timeout=DEADLINE, env=clean_environment(), stdin=subprocess.DEVNULL)
        said = self.reports(result.stdout)
        stops = [(answer["tasks"], answer["text"]) for report in said if report["kind"] == "stop" for answer in report["answers"]]
        self.assertEqual(stops[0][0], list(range(8)), result.stdout)
        self.assertEqual([tasks for tasks, text in stops if "breakpoint 1" in text], [list(range(2, 8))], result.stdout)
        values = {answer["text"]: answer["tasks"] for report in said if report.get("command") == "print task"
                  for answer in report["answers"]}
        self.assertEqual(values, {str(task): [task] for task in range(2, 8)}, result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_tasks_of_a_host_without_gdb_are_named(self):
        # Host 1 finds an empty file in the place of gdb; each host has mounts of its own.
        hosts = self.host_file(range(2), 2)
        gdb = shutil.which("gdb")
        subprocess.run(command_on(1, "mount", "--bind", "/dev/null", gdb), check=True, timeout=DEADLINE)
        try:
            result = subprocess.run(self.command(["print task", "cont"], PROGRAM, "-procs", "4", "-hostfile", hosts),
                                    capture_output=True, text=True, timeout=DEADLINE, env=clean_environment(),
                                    stdin=subprocess.DEVNULL)
        finally:
            subprocess.run(command_on(1, "umount", gdb), check=True, timeout=DEADLINE)
        told = [answer["tasks"] for report in self.reports(result.stdout) for answer in report.get("answers", [])
                if "gdb is not installed on this node" in answer["text"]]
        self.assertIn([2, 3], told, result.stdout + result.stderr)

    def test_host_that_is_lost(self):
        hosts = self.host_file(range(2), 2)
        script = self.write("commands", "tasks\n")
        pdbx = subprocess.Popen(command_on(0, PDBX, "-x", script, PROGRAM, "-procs", "4", "-hostfile", hosts, "-pulse", "2"),
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=clean_environment())
        wait_for(lambda: "stopped" in pdbx.stdout.readline(), "the tasks to stop")
        self.unreachable.add(1)
        testbed("kill", 1)
        lines = [pdbx.stdout.readline()]
        while lines[-1] and "node1" not in lines[-1]:
            lines.append(pdbx.stdout.readline())
        self.assertIn("node1", lines[-1], lines)
        pdbx.communicate("", timeout=DEADLINE)
        wait_for(lambda: not any("wrong_index" in command for command in host_processes(0).values()), "the tasks to end")
        testbed("start", 1)
        self.unreachable.discard(1)


if __name__ == "__main__":
    main(4)
