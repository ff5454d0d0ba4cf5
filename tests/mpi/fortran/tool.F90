! Tools see each call of a Fortran program once: one in C (tool_calls.c), and one in Fortran (tool_barrier.f90).
#include "fortran_test.inc"

program tool
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: rank, ierror, i, value, got, barriers
    HANDLE(MPI_Request) :: request(1)
    common /tool_data/ barriers
    external :: check
    interface
        integer(c_int) function tool_count(which) bind(C)
            use, intrinsic :: iso_c_binding
            integer(c_int), value :: which
        end function
    end interface

    barriers = 0
    call MPI_Init(ierror)
    do i = 1, 2
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    end do
    do i = 1, 3
        call MPI_Irecv(got, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request(1), ierror)
        call MPI_Send(i, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
        call MPI_Waitall(1, request, MPI_STATUSES_IGNORE, ierror)
        CHECK(got == i)
    end do
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 0, got, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    do i = 1, 4
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end do
    call MPI_Allreduce(1, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call PMPI_Barrier(MPI_COMM_WORLD, ierror)
    CHECK(barriers == 4)
    CHECK(all([(tool_count(i), i = 0, 6)] == [2, 1, 3, 3, 3, 5, 1]))
    call MPI_Finalize(ierror)
end program tool
