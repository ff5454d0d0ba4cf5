#!/usr/bin/env python3
"""The reports of check mode: one message for all tasks, which names calls by file and line, and the end of the job."""

import pathlib
import subprocess
import tempfile
import textwrap
import unittest

from launching import BUILD, main, poe

HEAD = """
    #include <mpi.h>
    int main(int argc, char** argv) {
        static int data[300000], other[300000];
        float floats[4];
        int rank;
        MPI_Request requests[2];
        MPI_Comm mesh;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_dup(MPI_COMM_WORLD, &mesh);
        MPI_Comm_set_name(mesh, "mesh");
"""
TAIL = """
        MPI_Comm_free(&mesh);
        MPI_Finalize();
        (void)data, (void)other, (void)floats, (void)requests;
        return 0;
    }
"""
# The line of the first statement of a body.
FIRST = len(HEAD.strip("\n").splitlines()) + 1


class CheckMode(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def build(self, body, *flags):
        source = pathlib.Path(self.folder.name) / "case.c"
        source.write_text(textwrap.dedent(HEAD).lstrip("\n") + textwrap.dedent(body).strip("\n") + "\n" +
                          textwrap.dedent(TAIL).lstrip("\n"))
        subprocess.run([f"{BUILD}/bin/mpicc.poe", *flags, str(source), "-o", f"{self.folder.name}/case"], check=True)

    def job(self, tasks, *arguments):
        result = poe(f"{self.folder.name}/case", "-procs", str(tasks), *arguments)
        result.stderr = result.stderr.decode()
        return result

    def reported(self, body, tasks, *texts, number="0032-2"):
        """The job ends with one message, which contains the texts."""
        self.build(body, "-g")
        result = self.job(tasks, "-mpicheck", "yes")
        # An error is in poe's report of the end.
        messages = [line for line in map(str.strip, result.stderr.splitlines()) if line.startswith(("0032", "ATTENTION: 0032"))]
        self.assertEqual(len(messages), 1, result.stderr)
        self.assertIn(number, messages[0])
        for text in texts:
            self.assertIn(text, messages[0])
        self.assertNotEqual(result.returncode, 0)

    def accepted(self, body, tasks):
        self.build(body, "-g")
        result = self.job(tasks, "-mpicheck", "yes")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_roots(self):
        self.reported("    MPI_Bcast(data, 4, MPI_INT, rank == 1, mesh);", 4, "with communicator mesh",
                      f"task 1 calls MPI_Bcast at case.c:{FIRST} with root 1, tasks 0,2,3 call MPI_Bcast at case.c:{FIRST} "
                      "with root 0 (MPI_ERR_ROOT)")

    def test_other_calls(self):
        body = """
            if (rank == 2)
                MPI_Barrier(mesh);
            else
                MPI_Bcast(data, 4, MPI_INT, 0, mesh);
        """
        self.reported(body, 3, f"task 2 calls MPI_Barrier at case.c:{FIRST + 1}",
                      f"tasks 0,1 call MPI_Bcast at case.c:{FIRST + 3}")

    def test_free(self):
        self.reported("""
            MPI_Comm copy;
            MPI_Comm_dup(mesh, &copy);
            if (rank == 1)
                MPI_Barrier(copy);
            else
                MPI_Comm_free(&copy);
        """, 3, f"task 1 calls MPI_Barrier at case.c:{FIRST + 3}", f"tasks 0,2 call MPI_Comm_free at case.c:{FIRST + 5}")

    def test_group_of_some(self):
        self.reported("""
            MPI_Group all, some;
            MPI_Comm made;
            int last = 2;
            MPI_Comm_group(mesh, &all);
            MPI_Group_excl(all, rank == 1, &last, &some);
            MPI_Comm_create_group(mesh, some, 3, &made);
        """, 3, "with communicator mesh", "argument group: task 0 calls MPI_Comm_create_group of tasks 0-2, task 1 of tasks 0,1")

    def test_one_member_is_wrong(self):
        self.reported("    MPI_Bcast(data, 4, MPI_INT, rank == 1 ? 77 : 0, mesh);", 3,
                      f"task 1 cannot make its call of MPI_Bcast at case.c:{FIRST}: argument root: 77 is no rank",
                      f"tasks 0,2 call MPI_Bcast at case.c:{FIRST}")

    def test_data(self):
        self.reported("    MPI_Gather(data, rank == 1 ? 3 : 2, MPI_INT, other, 2, MPI_INT, 0, mesh);", 2,
                      f"task 1 sends 3 MPI_INT to task 0 (MPI_Gather at case.c:{FIRST}), but task 0 expects 2 MPI_INT")

    def test_types_of_messages(self):
        body = """
            if (rank == 0) MPI_Send(data, 4, MPI_INT, 1, 5, mesh);
            if (rank == 1) MPI_Recv(floats, 4, MPI_FLOAT, 0, 5, mesh, MPI_STATUS_IGNORE);
        """
        self.reported(body, 2, f"rank 0 sends 4 MPI_INT with tag 5 (MPI_Send at case.c:{FIRST})",
                      f"(MPI_Recv at case.c:{FIRST + 1}) expects 4 MPI_FLOAT (MPI_ERR_TYPE)")

    def test_changed_buffer(self):
        body = """
            if (rank == 0) {
                MPI_Isend(data, 300000, MPI_INT, 1, 5, mesh, requests);
                data[299999] = CHANGE;
                MPI_Wait(requests, MPI_STATUS_IGNORE);
            }
            if (rank == 1) MPI_Recv(data, 300000, MPI_INT, 0, 5, mesh, MPI_STATUS_IGNORE);
        """
        self.reported(body.replace("CHANGE", "1"), 2,
                      f"that MPI_Isend at case.c:{FIRST + 1} sends was changed before the call was complete")
        self.accepted(body.replace("CHANGE", "0"), 2)  # the value that it has

    def test_overlap(self):
        body = """
            MPI_Irecv(data, 4, MPI_INT, rank, 5, mesh, requests);
            MPI_Irecv(data + NEXT, 4, MPI_INT, rank, 6, mesh, requests + 1);
            MPI_Send(other, 4, MPI_INT, rank, 5, mesh);
            MPI_Send(other, 4, MPI_INT, rank, 6, mesh);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        """
        self.reported(body.replace("NEXT", "3"), 1, f"MPI_Irecv at case.c:{FIRST} receives into share memory")
        self.accepted(body.replace("NEXT", "4"), 1)

    def test_objects_that_were_never_freed(self):
        body = """
            MPI_Datatype type;
            for (int i = 0; i < 3; ++i) MPI_Type_contiguous(2, MPI_INT, &type);
            MPI_Type_free(&type);
            if (rank == 1) MPI_Irecv(data, 4, MPI_INT, 0, 5, mesh, requests);
        """
        self.build(body, "-g")
        result = self.job(3, "-mpicheck", "yes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines(), [
            "ATTENTION: 0032-298 MPI_Finalize: these objects were never freed:",
            f"       6 datatypes of MPI_Type_contiguous at case.c:{FIRST + 1} in tasks 0-2; free with MPI_Type_free",
            f"       1 request of MPI_Irecv at case.c:{FIRST + 3} in task 1; free with MPI_Wait or MPI_Request_free"])

    def test_not_without_the_flag(self):
        self.build("    MPI_Allreduce(data, other, 4, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_MAX, mesh);", "-g")
        result = self.job(2)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_without_debug_information(self):
        self.build("    MPI_Bcast(data, 4, MPI_INT, rank == 1, mesh);")
        result = self.job(2, "-mpicheck", "yes")
        self.assertRegex(result.stderr, r"task 1 calls MPI_Bcast at main \(case\+0x[0-9a-f]+\) with root 1")


if __name__ == "__main__":
    main()
