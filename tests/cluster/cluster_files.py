"""Files that tasks reach through different mounts of a network file system, each with a cache of its own."""

import os
import shutil
import subprocess

from hosts import BUILD, ClusterTest, command_on, main

PROGRAM = BUILD / "bin" / "mpi_two_mounts"
SFTP_SERVER = "/usr/lib/openssh/sftp-server"
# The kernel caches contents and attributes for a minute, but sshfs itself nothing: only the kernel can be asked to look at
# the server again.
OPTIONS = f"sftp_server={SFTP_SERVER},cache=no,attr_timeout=60,ac_attr_timeout=60"


class TwoMounts(ClusterTest):
    def setUp(self):
        super().setUp()
        if shutil.which("sshfs") is None:
            self.skipTest("no sshfs; ./dev test installs it")
        if not os.path.exists("/dev/fuse"):
            self.skipTest("this system cannot mount by FUSE")
        self.shared = self.path("shared")
        self.mount = self.path("mount")
        for host in (1, 2):
            script = f"mkdir -p {self.shared} {self.mount} && sshfs node0:{self.shared} {self.mount} -o {OPTIONS}"
            result = subprocess.run(command_on(host, "sh", "-c", script), capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.addCleanup(subprocess.run, command_on(host, "umount", self.mount), check=False)

    def tearDown(self):
        # sshfs runs on the hosts as long as it is mounted.
        self.doCleanups()
        super().tearDown()

    def test_what_others_have_written_is_read(self):
        result = self.poe(PROGRAM, f"{self.mount}/file", "-procs", 4, "-hostfile", self.host_file((1, 2), 2), "-maxtime", 90)
        self.ok(result)
        self.assertEqual((result.stdout, result.stderr), ("", ""))


if __name__ == "__main__":
    main(3)
