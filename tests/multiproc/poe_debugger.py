#!/usr/bin/env python3
"""Parallel debuggers find the tasks in poe's memory: gdb plays the debugger."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from launching import BUILD, DEADLINE, POE, SANITIZED, LaunchTest, clean_environment, main

WAITS = r"""
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Init(NULL, NULL);
    puts("through the gate");
    MPI_Finalize();
    return 0;
}
"""


@unittest.skipIf(SANITIZED, "gdb stops at what the sanitizers do")
class Debugger(LaunchTest):
    def gdb(self, *commands):
        self.assertIsNotNone(shutil.which("gdb"))
        # A daemon may have ended when poe writes to it; poe ignores this signal.
        words = ["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "handle SIGPIPE nostop noprint"]
        for command in commands:
            words += ["-ex", command]
        result = subprocess.run([*words, POE], capture_output=True, text=True, timeout=DEADLINE, env=clean_environment(),
                                stdin=subprocess.DEVNULL)
        return result.stdout + result.stderr

    def test_table(self):
        out = self.gdb("set args sh -c 'echo $MP_CHILD is $$' -procs 3", "break MPIR_Breakpoint", "run",
                       "print MPIR_proctable_size", "print MPIR_debug_state",
                       *(f"print MPIR_proctable[{task}]" for task in range(3)), "print MPIR_i_am_starter",
                       "print MPIR_being_debugged", "continue")
        self.assertIn("= 3\n", out)
        pids = re.findall(r'host_name = \S+ "([^"]+)", executable_name = \S+ "(/[^"]*/sh)", pid = (\d+)', out)
        self.assertEqual(len(pids), 3, out)
        self.assertEqual({host for host, _, _ in pids}, {os.uname().nodename})
        for task, (_, _, pid) in enumerate(pids):
            self.assertIn(f"{task} is {pid}\n", out)

    def test_gate(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "waits.c"), pathlib.Path(folder, "waits")
            source.write_text(WAITS)
            subprocess.run([str(BUILD / "bin" / "mpicc.poe"), str(source), "-o", str(program)], check=True)
            # At the breakpoint no task has passed MPI_Init. The script then opens the gate of each.
            script = pathlib.Path(folder, "open.sh")
            # A task that has not loaded the library yet has no gate.
            script.write_text("for pid; do\n  until gdb -batch -nx -p $pid -ex 'print *(int*)&MPIR_debug_gate = 1' 2>&1 |"
                              " grep -q '= 1$'; do [ -d /proc/$pid ] || exit 1; done\ndone\n")
            out = self.gdb(f"set args {program} -procs 2", "break main", "run", "set variable MPIR_being_debugged = 1",
                           "break MPIR_Breakpoint", "continue", "echo AT THE BREAKPOINT\\n",
                           f"eval \"shell sh {script} %d %d\", MPIR_proctable[0].pid, MPIR_proctable[1].pid", "continue")
            before, after = out.split("AT THE BREAKPOINT")
            self.assertNotIn("through the gate", before)
            self.assertEqual(after.count("through the gate"), 2, out)


if __name__ == "__main__":
    main()
