#!/usr/bin/env python3
"""How people meet MPI in Fortran: the compiler scripts, programs under poe and alone, and an installed copy that build
systems find."""

import pathlib
import subprocess
import tempfile

from launching import BUILD, DEADLINE, SANITIZED, LaunchTest, clean_environment, install_for, main, poe

MPIFORT = str(BUILD / "bin" / "mpifort.poe")

HELLO = """program hello
    {use}
    implicit none
    {include}
    integer :: rank, tasks, ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, tasks, ierror)
    print '(i0, a, i0)', rank, ' of ', tasks
    call MPI_Finalize(ierror)
end program
"""
INTERFACES = {"mpif": HELLO.format(use="", include="include 'mpif.h'"), "mpi": HELLO.format(use="use mpi", include=""),
              "mpi_f08": HELLO.format(use="use mpi_f08", include="")}
# Without interfaces one routine gets arrays of several types.
OLD = """      program old
      include 'mpif.h'
      integer i, ierr
      real x
      call mpi_init(ierr)
      call mpi_bcast(i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call mpi_bcast(x, 1, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
      call mpi_finalize(ierr)
      end
"""
# The subroutines that MPI 3.0 has removed. With BOTTOM, the message has absolute addresses.
REMOVED = """      program remove
      implicit none
      include 'mpif.h'
      integer ierr, rank, tasks, next, before, i
      integer types(2), lengths(2), places(2), first
      integer record, row, blocks, huge, extent, lower, upper
      integer handler, found, calls, numbers, square(4, 4), line(4)
      integer requests(2), statuses(MPI_STATUS_SIZE, 2)
      double precision values
      common /both/ values(3), numbers(2)
      common /errors/ calls
      external failed
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, tasks, ierr)
      next = mod(rank + 1, tasks)
      before = mod(rank + tasks - 1, tasks)

      call mpi_address(values, places(1), ierr)
      call mpi_address(numbers, places(2), ierr)
#ifndef BOTTOM
      first = places(1)
      do i = 1, 2
         places(i) = places(i) - first
      end do
      if (places(2) .ne. 24) stop 1
#endif
      lengths(1) = 3
      lengths(2) = 2
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_INTEGER
      call mpi_type_struct(2, lengths, places, types, record, ierr)
      if (ierr .ne. MPI_SUCCESS) stop 2
      call mpi_type_commit(record, ierr)
      do i = 1, 3
         values(i) = 0.5d0 * i
      end do
      numbers(1) = 7
      numbers(2) = 8
      if (rank .ne. 0) then
         do i = 1, 3
            values(i) = 0
         end do
         numbers(1) = 0
         numbers(2) = 0
      end if
#ifdef BOTTOM
      call mpi_bcast(MPI_BOTTOM, 1, record, 0, MPI_COMM_WORLD, ierr)
#else
      call mpi_bcast(values, 1, record, 0, MPI_COMM_WORLD, ierr)
#endif
      if (values(1) .ne. 0.5d0 .or. values(3) .ne. 1.5d0) stop 3
      if (numbers(1) .ne. 7 .or. numbers(2) .ne. 8) stop 4

C     A row of a matrix.
      do i = 1, 16
         square(mod(i - 1, 4) + 1, (i - 1) / 4 + 1) = i
      end do
      call mpi_type_hvector(4, 1, 16, MPI_INTEGER, row, ierr)
      call mpi_type_commit(row, ierr)
      call mpi_irecv(line, 4, MPI_INTEGER, before, 0, MPI_COMM_WORLD,
     &               requests(1), ierr)
      call mpi_isend(square(2, 1), 1, row, next, 0, MPI_COMM_WORLD,
     &               requests(2), ierr)
      call mpi_waitall(2, requests, statuses, ierr)
      if (line(1) .ne. 2 .or. line(4) .ne. 14) stop 5

      lengths(1) = 1
      lengths(2) = 2
      places(1) = 12
      places(2) = 4
      call mpi_type_hindexed(2, lengths, places, MPI_INTEGER, blocks,
     &                       ierr)
      call mpi_type_extent(blocks, extent, ierr)
      call mpi_type_lb(blocks, lower, ierr)
      call mpi_type_ub(blocks, upper, ierr)
      if (extent .ne. 12 .or. lower .ne. 4 .or. upper .ne. 16) stop 6

      call mpi_errhandler_create(failed, handler, ierr)
      call mpi_errhandler_set(MPI_COMM_WORLD, handler, ierr)
      call mpi_errhandler_get(MPI_COMM_WORLD, found, ierr)
      if (found .ne. handler) stop 7
      calls = 0
      call mpi_send(calls, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, ierr)
      if (calls .ne. 1 .or. ierr .eq. MPI_SUCCESS) stop 8

C     An extent of three times 2 GB is no INTEGER.
      call mpi_errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
      call mpi_type_hvector(2, 1, 2000000000, MPI_INTEGER, row, ierr)
      call mpi_type_contiguous(3, row, huge, ierr)
      call mpi_type_extent(row, extent, ierr)
      if (ierr .ne. MPI_SUCCESS .or. extent .ne. 2000000004) stop 9
      call mpi_type_extent(huge, extent, ierr)
      if (ierr .eq. MPI_SUCCESS .or. extent .ne. 2000000004) stop 10
      call mpi_finalize(ierr)
      end

      subroutine failed(comm, code)
      integer comm, code, calls
      common /errors/ calls
      calls = calls + 1
      end
"""
SESSIONS = """program sessions
    use mpi_f08
    implicit none
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    type(MPI_Info) :: info
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    character(len=32) :: text
    integer :: sets, length, rank, tasks, sum, parts(12), got(12), i
    logical :: flag
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets)
    if (sets < 2) error stop 1
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    if (name /= 'mpi://WORLD') error stop 2
    call MPI_Session_get_pset_info(session, name, info)
    length = len(text)
    call MPI_Info_get_string(info, 'mpi_size', length, text, flag)
    call MPI_Info_free(info)
    call MPI_Group_from_session_pset(session, name, group)
    call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
    call MPI_Group_free(group)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, tasks)
    read (text, *) i
    if (i /= tasks) error stop 3
    call MPI_Psend_init(parts, 4, 3_MPI_COUNT_KIND, MPI_INTEGER, mod(rank + 1, tasks), 1, comm, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(got, 2, 6_MPI_COUNT_KIND, MPI_INTEGER, mod(rank + tasks - 1, tasks), 1, comm, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    parts = [(i + 100 * rank, i = 1, 12)]
    call MPI_Pready(3, requests(1))
    call MPI_Pready_range(0, 1, requests(1))
    call MPI_Pready_list(1, [2], requests(1))
    flag = .false.
    do while (.not. flag)
        call MPI_Parrived(requests(2), 1, flag)
    end do
    call MPI_Waitall(2, requests, statuses)
    if (any(got /= [(i + 100 * mod(rank + tasks - 1, tasks), i = 1, 12)])) error stop 4
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, comm)
    if (sum /= tasks) error stop 5
    call MPI_Comm_free(comm)
    call MPI_Session_finalize(session)
    if (session /= MPI_SESSION_NULL) error stop 6
end program
"""

def run(*words, **options):
    options.setdefault("env", clean_environment())
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, **options)


def hello_of(tasks):
    return [f"{rank} of {tasks}" for rank in range(tasks)]


class FortranTest(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, source, *flags, compiler=MPIFORT, suffix=".f90"):
        file = self.folder / f"program{suffix}"
        file.write_text(source)
        result = run(compiler, str(file), "-o", str(self.folder / "program"), *flags, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return str(self.folder / "program")


class Compilers(FortranTest):
    def test_what_they_show(self):
        libraries = r"-L\S+ -Wl,-rpath,\S+ -lmpifort_abi -lmpi_abi"
        shown = run(MPIFORT, "-show", "a.f90").stdout
        self.assertRegex(shown, rf"^gfortran .*-I\S+/poe-mpi -I\S+/poe-mpi/gfortran a\.f90 {libraries}$")
        self.assertRegex(run(MPIFORT, "-showme:compile").stdout, r"^-I\S+/poe-mpi -I\S+/poe-mpi/gfortran$")
        self.assertRegex(run(MPIFORT, "-showme:link").stdout, rf"^{libraries}$")
        self.assertEqual(run(MPIFORT, "-showme:libs").stdout, "mpifort_abi mpi_abi\n")
        self.assertRegex(run(MPIFORT, "-compile_info").stdout, r"^gfortran .*/gfortran$")
        self.assertNotIn("-lmpi_abi", run(MPIFORT, "-show", "-c", "a.f90").stdout)
        self.assertIn("POE", run(MPIFORT, "--version").stdout)
        self.assertEqual(run(MPIFORT).returncode, 2)

    def test_each_name_and_interface(self):
        for folder, names in (("bin", ("mpifort.poe", "mpif90.poe", "mpif77.poe")),
                              ("lib/poe/mpi/bin", ("mpifort", "mpif90", "mpif77"))):
            for name, interface in zip(names, INTERFACES):
                with self.subTest(name):
                    program = self.compile(INTERFACES[interface], compiler=str(BUILD / folder / name))
                    out = self.ok(poe(program, "-procs", "3")).stdout.decode()
                    self.assertEqual(sorted(out.splitlines()), hello_of(3))
                    self.assertEqual(run(program).stdout.splitlines(), hello_of(1))

    def test_mpfort_compiles_mpi_too(self):
        for source in INTERFACES.values():
            program = self.compile(source, compiler=str(BUILD / "bin" / "mpfort"))
            self.assertEqual(sorted(self.ok(poe(program, "-procs", "2")).stdout.decode().splitlines()), hello_of(2))

    def test_old_source(self):
        self.ok(poe(self.compile(OLD, suffix=".f"), "-procs", "2"))

    def test_removed_subroutines(self):
        for flags in (), ("-DBOTTOM", "-no-pie"):
            with self.subTest(flags):
                program = self.compile(REMOVED, *flags, suffix=".F")
                for tasks in "1", "2":
                    self.ok(poe(program, "-procs", tasks))

    def test_sessions_and_partitions(self):
        program = self.compile(SESSIONS)
        for tasks in ("1", "3"):
            self.ok(poe(program, "-procs", tasks))

    def test_static(self):
        if SANITIZED:
            self.skipTest("sanitizers cannot be linked statically")
        for compiler in (MPIFORT, str(BUILD / "bin" / "mpfort")):
            program = self.compile(INTERFACES["mpi_f08"], "-static", compiler=compiler)
            self.assertEqual(sorted(self.ok(poe(program, "-procs", "2")).stdout.decode().splitlines()), hello_of(2))


class Installed(FortranTest):
    def setUp(self):
        super().setUp()
        self.prefix = install_for(self)

    def test_cmake(self):
        project = self.folder / "project"
        project.mkdir()
        for name, source in INTERFACES.items():
            (project / f"{name}.f90").write_text(source)
        programs = "".join(f"add_executable({name}_hello {name}.f90)\n"
                           f"target_link_libraries({name}_hello PRIVATE MPI::MPI_Fortran)\n" for name in INTERFACES)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(hello Fortran)\nfind_package(MPI REQUIRED COMPONENTS Fortran)\n"
            "foreach(interface F77_HEADER F90_MODULE F08_MODULE)\nif(NOT MPI_Fortran_HAVE_${interface})\n"
            'message(FATAL_ERROR "no ${interface}")\nendif()\nendforeach()\n' + programs)
        build = project / "build"
        done = run("cmake", "-S", str(project), "-B", str(build), f"-DMPI_HOME={self.prefix}/lib/poe/mpi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.prefix}/lib/libmpifort_abi.so", done.stdout)
        done = run("cmake", "--build", str(build))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in INTERFACES:
            done = run(str(self.prefix / "bin" / "mpiexec.poe"), "-n", "2", str(build / f"{name}_hello"))
            self.assertEqual(sorted(done.stdout.splitlines()), hello_of(2), done.stderr)

    def test_pkg_config(self):
        found = run("pkg-config", "--cflags", "--libs", "mpi-fort",
                    env=clean_environment(PKG_CONFIG_PATH=f"{self.prefix}/lib/poe/mpi/pkgconfig"))
        self.assertEqual(found.returncode, 0, found.stderr)
        program = self.compile(INTERFACES["mpi_f08"], *found.stdout.split(), compiler="gfortran")
        self.assertEqual(run(program).stdout.splitlines(), hello_of(1))


if __name__ == "__main__":
    main()
