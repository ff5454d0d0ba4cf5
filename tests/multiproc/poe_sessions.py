#!/usr/bin/env python3
"""Sessions under poe: the process sets that it takes from programs, nodes, pools and the commands file."""

import os

from launching import clean_environment, main
from poe_mpi import MpiTest, poe, run

# Prints the process sets and the tasks that are in them. Never calls MPI_Init.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(void) {
    MPI_Session session;
    int sets, rank, size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group all;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int n = 0; n < sets; ++n) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name, here;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name);
        MPI_Group group;
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Group_size(group, &size);
        MPI_Group_rank(group, &here);
        if (rank == 0) printf("%s has %d\n", name, size);
        if (here != MPI_UNDEFINED) {
            MPI_Comm part;
            int sum = 0, one = 1;
            MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
            if (sum != size) MPI_Abort(part, 1);
            MPI_Comm_free(&part);
        }
        MPI_Group_free(&group);
    }
    /* The members of a set get a communicator by its name, too. */
    MPI_Info info;
    MPI_Comm guided;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "poe://program/0");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &guided);
    MPI_Info_free(&info);
    if (guided != MPI_COMM_NULL) {
        MPI_Comm_size(guided, &size);
        if (rank == 0) printf("guided has %d\n", size);
        MPI_Comm_free(&guided);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    return 0;
}
"""

FAILING = r"""
#include <mpi.h>
int main(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "poe://set/nothing", &group);
    return 0;
}
"""


class Sessions(MpiTest):
    def sets(self, *args, **options):
        result = poe(*args, **options)
        self.ok(result)
        return dict(line.split(" has ") for line in result.stdout.decode().splitlines() if " has " in line)

    def test_one_program(self):
        program = self.compile(PROGRAM)
        host = os.uname().nodename
        for device in ("us", "ip"):
            sets = self.sets(program, "-procs", "3", "-euilib", device)
            self.assertEqual(sets.pop("mpi://WORLD"), "3")
            self.assertEqual(sets.pop("mpi://SELF"), "1")
            self.assertEqual(sets.pop("poe://program/0"), "3")
            self.assertEqual(sets.pop("guided"), "3")
            self.assertEqual(sets, {f"poe://node/{host}": "3"})

    def test_commands_file(self):
        program = self.compile(PROGRAM)
        jobs = self.folder / "jobs"
        jobs.write_text(f"{program}\n#pset sea wet\n{program} x\n{program} x\n#pset air\n{program} y\n#pset\n{program}\n")
        sets = self.sets("-procs", "5", "-pgmmodel", "mpmd", "-cmdfile", str(jobs))
        self.assertEqual(sets["poe://program/0"], "2")
        self.assertEqual(sets["poe://program/1"], "2")
        self.assertEqual(sets["poe://program/2"], "1")
        self.assertEqual(sets["poe://set/sea"], "2")
        self.assertEqual(sets["poe://set/wet"], "2")
        self.assertEqual(sets["poe://set/air"], "1")
        self.assertEqual(sets["guided"], "2")

    def test_pool(self):
        program = self.compile(PROGRAM)
        pools = self.folder / "pools"
        pools.write_text(f"fast {os.uname().nodename}\n")
        sets = self.sets(program, "-procs", "2", "-rmpool", "fast", env=clean_environment(MP_POOLFILE=str(pools)))
        self.assertEqual(sets["poe://pool/fast"], "2")

    def test_wrong_name_in_commands_file(self):
        program = self.compile(PROGRAM)
        jobs = self.folder / "jobs"
        jobs.write_text(f"{program}\n#pset a=b\n{program}\n")
        result = poe("-procs", "2", "-pgmmodel", "mpmd", "-cmdfile", str(jobs))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('jobs:2', result.stderr.decode())
        self.assertIn('"a=b" is no name of a process set', result.stderr.decode())

    def test_error_ends_the_job(self):
        result = poe(self.compile(FAILING), "-procs", "2")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('there is no process set "poe://set/nothing" in this job', result.stderr.decode())
        self.assertIn("MPI_Group_from_session_pset", result.stderr.decode())

    def test_without_poe(self):
        program = self.compile(PROGRAM)
        self.assertIn("mpi://WORLD has 1", run(program).stdout)


if __name__ == "__main__":
    main()
