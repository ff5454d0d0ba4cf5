! The extension of CC-MPI from Fortran: a scatterv with a group, and an alltoallv at levels 1 and 3.
program cc_fortran
  use mpi
  implicit none
  include 'mpif_cc.h'
  integer :: n, me, ierror, group, i, repeat, phases, schedule
  integer, allocatable :: counts(:), starts(:), all(:), own(:), result(:)

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  allocate(counts(n), starts(n), all(2 * n), own(2), result(2 * n))
  counts = 2
  starts = [(2 * i, i = 0, n - 1)]
  call MPIX_Scatterv_open_group(all, counts, starts, MPI_INTEGER, own, 2, MPI_INTEGER, 0, &
                                MPI_COMM_WORLD, group, ierror)
  call expect(ierror == MPI_SUCCESS .and. group /= MPIX_CC_NULL, 1)
  do repeat = 1, 3
    all = [(i * repeat, i = 1, 2 * n)]
    call MPIX_Scatterv_data_movement(all, counts, starts, MPI_INTEGER, own, 2, MPI_INTEGER, 0, &
                                     MPI_COMM_WORLD, group, ierror)
    call expect(ierror == MPI_SUCCESS, 2)
    call expect(own(1) == (2 * me + 1) * repeat .and. own(2) == (2 * me + 2) * repeat, 3)
  end do
  call MPIX_Scatterv_close_group(group, ierror)
  call expect(ierror == MPI_SUCCESS .and. group == MPIX_CC_NULL, 4)

  call MPIX_Alltoallv_control1(counts, MPI_INTEGER, counts, MPI_INTEGER, MPIX_CC_ALL_TO_ALL, &
                               MPI_COMM_WORLD, group, ierror)
  call expect(ierror == MPI_SUCCESS, 5)
  call MPIX_Alltoallv_get_phases(group, phases, schedule, ierror)
  call expect(schedule == MPIX_CC_ALL_TO_ALL, 6)
  do repeat = 1, 3
    all = [(1000 * me + i + repeat, i = 0, 2 * n - 1)]
    call MPIX_Alltoallv_data_trans2(all, counts, starts, MPI_INTEGER, result, counts, starts, &
                                    MPI_INTEGER, MPI_COMM_WORLD, group, ierror)
    call expect(ierror == MPI_SUCCESS, 7)
    do i = 0, n - 1
      call expect(result(2 * i + 1) == 1000 * i + 2 * me + repeat, 8)
    end do
  end do
  call MPIX_Alltoallv_close_group(group, ierror)
  call expect(ierror == MPI_SUCCESS, 9)
  deallocate(counts, starts, all, own, result)
  call MPI_Finalize(ierror)

contains
  subroutine expect(condition, number)
    logical, intent(in) :: condition
    integer, intent(in) :: number
    integer :: ignored
    if (condition) return
    print *, 'task ', me, ': check ', number, ' failed'
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
