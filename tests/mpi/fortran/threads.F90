! Sections that are not contiguous in several threads at once (mpi_f08). A request that has completed gives its integer
! to the request of another thread.
program threads
    use mpi_f08
    implicit none
    integer, parameter :: members = 4, rounds = 500
    integer :: provided, me, tasks, thread, wrong
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, tasks)
    wrong = 0
    !$omp parallel do num_threads(members) schedule(static, 1) reduction(+:wrong)
    do thread = 0, members - 1
        wrong = wrong + exchange(thread)
    end do
    !$omp end parallel do
    call check(provided == MPI_THREAD_MULTIPLE, __LINE__)
    call check(wrong == 0, __LINE__)
    call MPI_Finalize()

contains

    ! Sends rows to the next task, and returns how many of those that it receives are wrong.
    integer function exchange(tag) result(mistakes)
        integer, intent(in) :: tag
        double precision :: given(20, 20), got(20, 20), expected(10)
        type(MPI_Request) :: requests(2)
        integer :: round, i
        mistakes = 0
        do round = 1, rounds
            expected = [(1000 * tag + round + i, i = 1, 10)]
            given = 0
            got = -1
            given(3, 1:20:2) = expected
            call MPI_Irecv(got(5, 2:20:2), 10, MPI_DOUBLE_PRECISION, modulo(me - 1, tasks), tag, MPI_COMM_WORLD, &
                requests(1))
            call MPI_Isend(given(3, 1:20:2), 10, MPI_DOUBLE_PRECISION, modulo(me + 1, tasks), tag, MPI_COMM_WORLD, &
                requests(2))
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            if (any(got(5, 2:20:2) /= expected) .or. any(got(5, 1:20:2) /= -1)) mistakes = mistakes + 1
        end do
    end function
end program threads
