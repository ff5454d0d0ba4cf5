! A program with a mistake: its result is not a number. Find it with pdbx; poe-tutorial(7) shows how.
!
!   mpifort.poe -g -O0 nan.f90 -o nan
!   pdbx ./nan -procs 4
!
! Each task adds the square roots of its part of a table.
program roots
  use mpi
  implicit none
  integer, parameter :: n = 8
  integer :: me, tasks, error
  double precision :: table(n), part, total

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, tasks, error)
  call fill(table, me)
  part = sum_of_roots(table)
  call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (me == 0) print *, 'the sum is', total
  call MPI_Finalize(error)

contains

  subroutine fill(values, task)
    double precision, intent(out) :: values(:)
    integer, intent(in) :: task
    integer :: i
    do i = 1, size(values)
       values(i) = task * size(values) + i
    end do
    if (task == 2) values(5) = -values(5)  ! the mistake
  end subroutine fill

  function sum_of_roots(values) result(sum)
    double precision, intent(in) :: values(:)
    double precision :: sum
    integer :: i
    sum = 0
    do i = 1, size(values)
       sum = sum + sqrt(values(i))
    end do
  end function sum_of_roots

end program roots
