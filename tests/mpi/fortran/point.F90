! Point-to-point communication in Fortran: modes, statuses, what stands for an argument, requests of all
! kinds, and indices that count from 1.
#include "fortran_test.inc"

program point
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: rank, tasks, ierror, left, right, count, i, index, outcount
    integer, asynchronous :: sent(8), got(8)
    integer :: indices(4)
    real(kind=8) :: reals(5)
    character(len=12) :: text
    logical :: flag
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Request) :: request, requests(4)
    HANDLE(MPI_Message) :: message
    STATUS(status)
    STATUSES(statuses, 4)

    call MPI_Init(ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Initialized(flag, ierror)
    CHECK(flag)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, tasks, ierror)
    left = modulo(rank - 1, tasks)
    right = modulo(rank + 1, tasks)
    sent = [(100 * rank + i, i = 1, 8)]

    ! A ring: each field of the status.
    call MPI_Sendrecv(sent, 8, MPI_INTEGER, right, 5, got, 8, MPI_INTEGER, left, MPI_ANY_TAG, comm, status, ierror)
    CHECK(all(got == [(100 * left + i, i = 1, 8)]))
    CHECK(SOURCE_OF(status) == left .and. TAG_OF(status) == 5)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 8)
    call MPI_Get_elements(status, MPI_INTEGER, count, ierror)
    CHECK(count == 8)
    call MPI_Test_cancelled(status, flag, ierror)
    CHECK(.not. flag)
    call MPI_Sendrecv_replace(got, 8, MPI_INTEGER, left, 6, right, 6, comm, MPI_STATUS_IGNORE, ierror)
    CHECK(all(got == sent))

    ! MPI_PROC_NULL.
    call MPI_Recv(got, 8, MPI_INTEGER, MPI_PROC_NULL, 1, comm, status, ierror)
    CHECK(SOURCE_OF(status) == MPI_PROC_NULL .and. TAG_OF(status) == MPI_ANY_TAG)

    ! Every mode of sending, all received by one kind.
    call MPI_Irecv(got(1), 1, MPI_INTEGER, left, 1, comm, requests(1), ierror)
    call MPI_Irecv(got(2), 1, MPI_INTEGER, left, 2, comm, requests(2), ierror)
    call MPI_Irecv(got(3), 1, MPI_INTEGER, left, 3, comm, requests(3), ierror)
    call MPI_Isend(sent(1), 1, MPI_INTEGER, right, 1, comm, requests(4), ierror)
    call MPI_Issend(sent(2), 1, MPI_INTEGER, right, 2, comm, request, ierror)
    call MPI_Barrier(comm, ierror)
    call MPI_Rsend(sent(3), 1, MPI_INTEGER, right, 3, comm, ierror)
    call MPI_Waitall(4, requests, statuses, ierror)
    CHECK(ierror == MPI_SUCCESS)
    CHECK(all(got(1:3) == 100 * left + [1, 2, 3]))
    CHECK(SOURCE_OF_ONE(statuses, 2) == left)
    CHECK(requests(1) == MPI_REQUEST_NULL .and. requests(4) == MPI_REQUEST_NULL)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(request == MPI_REQUEST_NULL)

    ! A buffered send.
    call MPI_Buffer_attach(buffer_memory(), 20000, ierror)
    call MPI_Bsend(sent, 8, MPI_INTEGER, right, 7, comm, ierror)
    call MPI_Recv(got, 8, MPI_INTEGER, left, 7, comm, MPI_STATUS_IGNORE, ierror)
    CHECK(got(8) == 100 * left + 8)
    call detach()

    ! Indices begin with 1.
    requests = MPI_REQUEST_NULL
    call MPI_Waitany(4, requests, index, status, ierror)
    CHECK(index == MPI_UNDEFINED)
    call MPI_Irecv(got, 8, MPI_INTEGER, left, 8, comm, requests(3), ierror)
    call MPI_Send(sent, 8, MPI_INTEGER, right, 8, comm, ierror)
    call MPI_Waitany(4, requests, index, status, ierror)
    CHECK(index == 3 .and. SOURCE_OF(status) == left)
    call MPI_Irecv(got, 8, MPI_INTEGER, left, 9, comm, requests(4), ierror)
    call MPI_Send(sent, 8, MPI_INTEGER, right, 9, comm, ierror)
    call MPI_Waitsome(4, requests, outcount, indices, MPI_STATUSES_IGNORE, ierror)
    CHECK(outcount == 1 .and. indices(1) == 4)
    call MPI_Irecv(got, 8, MPI_INTEGER, left, 10, comm, requests(2), ierror)
    call MPI_Send(sent, 8, MPI_INTEGER, right, 10, comm, ierror)
    flag = .false.
    do while (.not. flag)
        call MPI_Testany(4, requests, index, flag, status, ierror)
        if (.not. flag) then
            CHECK(index == MPI_UNDEFINED)
        end if
    end do
    CHECK(index == 2)
    call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierror)
    CHECK(flag)
    call MPI_Testsome(4, requests, outcount, indices, statuses, ierror)
    CHECK(outcount == MPI_UNDEFINED)

    ! Persistent requests.
    call MPI_Send_init(sent, 8, MPI_INTEGER, right, 11, comm, requests(1), ierror)
    call MPI_Recv_init(got, 8, MPI_INTEGER, left, 11, comm, requests(2), ierror)
    do i = 1, 3
        sent(1) = 1000 * rank + i
        call MPI_Startall(2, requests, ierror)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
        CHECK(got(1) == 1000 * left + i)
    end do
    call MPI_Request_free(requests(1), ierror)
    call MPI_Request_free(requests(2), ierror)
    CHECK(requests(2) == MPI_REQUEST_NULL)

    ! Probing, with and without a message.
    call MPI_Iprobe(left, 12, comm, flag, status, ierror)
    CHECK(.not. flag)
    call MPI_Barrier(comm, ierror)
    reals = [(rank + 0.5d0 * i, i = 1, 5)]
    call MPI_Isend(reals, 5, MPI_DOUBLE_PRECISION, right, 12, comm, request, ierror)
    call MPI_Probe(left, 12, comm, status, ierror)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
    CHECK(count == 5)
    call MPI_Mprobe(left, 12, comm, message, status, ierror)
    CHECK(message /= MPI_MESSAGE_NULL .and. TAG_OF(status) == 12)
    call MPI_Wait(request, status, ierror)
    call MPI_Mrecv(reals, 5, MPI_DOUBLE_PRECISION, message, status, ierror)
    CHECK(message == MPI_MESSAGE_NULL)
    CHECK(reals(5) == left + 2.5d0)

    ! Cancelling.
    call MPI_Irecv(got, 8, MPI_INTEGER, left, 99, comm, request, ierror)
    call MPI_Cancel(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    CHECK(flag)

    ! Characters, and a status that the program makes.
    write (text, '(a, i4)') 'from', rank
    call MPI_Sendrecv_replace(text, 12, MPI_CHARACTER, right, 13, left, 13, comm, status, ierror)
    read (text(5:8), *) i
    CHECK(text(1:4) == 'from' .and. i == left)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .true., ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    CHECK(count == 3 .and. flag)

    call MPI_Finalize(ierror)
    call MPI_Finalized(flag, ierror)
    CHECK(flag)

contains

    function buffer_memory() result(memory)
        character, pointer :: memory(:)
        character, target, save :: bytes(20000)
        memory => bytes
    end function

    subroutine detach()
#if defined(WITH_MPI_F08)
        use, intrinsic :: iso_c_binding
        type(c_ptr) :: address
#else
        integer :: address(2)
        address = 17
#endif
        call MPI_Buffer_detach(address, count, ierror)
        CHECK(count == 20000)
#if defined(WITH_MPI_F08)
        CHECK(c_associated(address))
#else
        CHECK(all(address == 17))
#endif
    end subroutine
end program point
