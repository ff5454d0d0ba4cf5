"""pmarray on the home node shows the tasks of all nodes alike: what they do, use and send, their lights and
output; daemons tell what changes, and nothing when nobody looks."""

import json
import re
import subprocess

from hosts import BUILD, HERE, ClusterTest, clean_environment, command_on, main, wait_for

SOURCE = HERE.parent.parent
NODES = 7
TASKS = 2 * NODES

PROGRAM = r"""
#include <mp_marker.h>
#include <mpproto.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char block[100000];
/* Pairs of tasks on different nodes send to and fro until task 0 is told to stop; two wait for it. */
int main(void) {
    int tasks, me, go = 1, type = 1, from, bytes;
    char text[100];
    mpc_environ(&tasks, &me);
    snprintf(text, sizeof text, "task %d is here", me);
    mpc_marker(me % 10, 62, text);
    mpc_progress(me, tasks);
    printf("task %d has written this\n", me);
    fflush(stdout);
    while (go) {
        if (me == 0) go = access("stop", F_OK) != 0;
        mpc_bcast(&go, sizeof go, 0, ALLGRP);
        from = (me + tasks - 3) % tasks;
        if (me % 2 == 0) {
            mpc_bsend(block, sizeof block, (me + 3) % tasks, 1);
            mpc_brecv(block, sizeof block, &from, &type, &bytes);
        } else {
            mpc_brecv(block, sizeof block, &from, &type, &bytes);
            mpc_bsend(block, sizeof block, (me + 3) % tasks, 1);
        }
    }
    mpc_marker(-1, 0, "the end");
    if (me == tasks - 1) return 5;
    return 0;
}
"""


class Markers(ClusterTest):
    def setUp(self):
        super().setUp()
        source = self.write("busy.c", PROGRAM)
        self.program = self.path("busy")
        subprocess.run([str(BUILD / "bin" / "mpcc"), source, "-o", self.program], check=True)

    def watch(self, *args):
        return subprocess.Popen(command_on(0, str(BUILD / "bin" / "pmarray"), *args), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder.name,
                                env=clean_environment(LC_ALL="C.UTF-8"))

    def test_rows_of_all_nodes(self):
        job = self.start(self.program, "-procs", TASKS, "-hostfile", self.host_file(range(NODES), 2),
                         env={"MP_LAUNCH_FANOUT": "2"})
        watchers = []
        try:
            self.assertIn("has written this", job.stdout.readline())
            watchers = [self.watch("-json"), self.watch("-json")]
            for watcher in watchers:
                facts = json.loads(watcher.stdout.readline())
                self.assertEqual(facts["nodes"], [f"node{node}" for node in range(NODES)])
                rows = {}

                def complete():
                    row = json.loads(watcher.stdout.readline())
                    if "task" in row and (row.get("pid", 0) > 0 and row.get("cpu_percent", -1) >= 0 and row.get("memory", 0) > 0 and
                                          row["sent_per_second"] > 0 and row["received_per_second"] > 0 and row["text"]):
                        rows[row["task"]] = row
                    return len(rows) == TASKS

                wait_for(complete, "whole rows of all tasks")
                for task, row in rows.items():
                    self.assertEqual(row["node"], f"node{task // 2}")
                    self.assertEqual(row["text"], f"task {task} is here")
                    self.assertEqual(row["lights"], [None] * (task % 10) + [62])
                    self.assertEqual(row["progress"], {"done": task, "total": TASKS})
                    self.assertIn(row["state"], ("computing", "sending", "receiving", "collective", "idle"))
            watchers[0].terminate()
            self.write("stop", "")
            last = {}
            for line in watchers[1].stdout:
                row = json.loads(line)
                if "task" in row:
                    last[row["task"]] = row
            self.assertEqual(watchers[1].wait(60), 0)
            self.assertEqual(last[TASKS - 1]["state"], "failed")
            self.assertEqual(last[TASKS - 1]["doing"], "ended with code 5")
            self.assertEqual({last[task]["text"] for task in range(TASKS)}, {"the end"})
        finally:
            self.write("stop", "")
            for watcher in watchers:
                watcher.terminate()
                watcher.communicate(timeout=60)
            job.communicate(timeout=60)

    def test_where_no_task_runs(self):
        job = self.start(self.program, "-procs", 4, "-hostfile", self.host_file((1, 2), 2))
        watchers = []
        try:
            self.assertIn("has written this", job.stdout.readline())
            for words in ((), (self.job_name(),)):
                watcher = self.watch("-json", *words)
                watchers.append(watcher)
                facts = json.loads(watcher.stdout.readline())
                self.assertEqual((facts["tasks"], facts["nodes"]), (4, ["node1", "node2"]))
                seen = {}

                def complete():
                    row = json.loads(watcher.stdout.readline())
                    if row.get("text"):
                        seen[row["task"]] = (row["node"], row["text"])
                    return len(seen) == 4

                wait_for(complete, "news of all tasks")
                self.assertEqual(seen, {task: (f"node{1 + task // 2}", f"task {task} is here") for task in range(4)})
        finally:
            self.write("stop", "")
            for process in (job, *watchers):
                process.communicate(timeout=60)

    def job_name(self):
        listed = subprocess.run(command_on(0, str(BUILD / "bin" / "poestat"), "-json"), capture_output=True, text=True,
                                timeout=60).stdout
        return re.search(r'"job": *"([a-z0-9-]+)"', listed)[1]


if __name__ == "__main__":
    main(NODES)
