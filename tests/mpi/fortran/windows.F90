! Windows in Fortran: memory of all kinds, operations, the three kinds of synchronisation, attributes, names, error
! handlers and errors.
#include "fortran_test.inc"

module window_functions
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: errors = 0
contains
    subroutine handle_error(object, code)
        HANDLE(MPI_Win) :: object
        integer :: code
        errors = errors + 1
    end subroutine
end module window_functions

program windows
    use, intrinsic :: iso_c_binding
    use window_functions
    implicit none
    integer, parameter :: n = 16
    integer, asynchronous :: memory(n), given(n), got(n), old, one, compared
    integer :: rank, tasks, right, left, ierror, i, length, unit
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place, value
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Group) :: all, group
    HANDLE(MPI_Errhandler) :: handler
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Comm) :: node
    type(c_ptr) :: base
    integer, pointer :: allocated(:)
    external :: check

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, tasks, ierror)
    right = mod(rank + 1, tasks)
    left = mod(rank + tasks - 1, tasks)
    given = [(100 * rank + i, i = 1, n)]
    memory = -1
    one = 1

    ! Created; fence.
    bytes = 4 * n
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Win_set_name(win, 'table  ', ierror)
    call MPI_Win_get_name(win, name, length, ierror)
    CHECK(name(:length) == 'table')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    CHECK(flag)
    CHECK(value == bytes)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
    CHECK(value == 4)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    CHECK(value == MPI_WIN_FLAVOR_CREATE)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
    place = 0
    call MPI_Put(given, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Win_fence(0, win, ierror)
    CHECK(all_are(memory, 100 * left))
    call MPI_Get(got, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
    CHECK(all_are(got, 100 * rank))

    ! Locks, accumulates, requests.
    memory(1) = 0
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    do i = 0, tasks - 1
        call MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win, ierror)
        call MPI_Accumulate(one, 1, MPI_INTEGER, i, place, 1, MPI_INTEGER, MPI_SUM, win, ierror)
        call MPI_Win_flush(i, win, ierror)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER, i, place, MPI_SUM, win, ierror)
        call MPI_Win_unlock(i, win, ierror)
        CHECK(old >= 1)
        CHECK(old < 2 * tasks)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    CHECK(memory(1) == 2 * tasks)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    compared = 2 * tasks
    place = 0
    if (rank == 0) call MPI_Compare_and_swap(one, compared, old, MPI_INTEGER, right, place, win, ierror)
    place = 1
    call MPI_Rput(given, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_unlock_all(win, ierror)
    if (rank == 0) then
        CHECK(old == compared)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    CHECK(memory(2) == 100 * left + 1)
    if (rank == mod(1, tasks)) then
        CHECK(memory(1) == 1)
    end if

    ! Post, start, complete, wait.
    call MPI_Win_get_group(win, all, ierror)
    call MPI_Group_incl(all, 1, [left], group, ierror)
    call MPI_Win_post(group, 0, win, ierror)
    call MPI_Group_free(group, ierror)
    call MPI_Group_incl(all, 1, [right], group, ierror)
    call MPI_Win_start(group, 0, win, ierror)
    call MPI_Group_free(group, ierror)
    call MPI_Group_free(all, ierror)
    place = 2
    call MPI_Put(given, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_complete(win, ierror)
    call MPI_Win_wait(win, ierror)
    CHECK(memory(3) == 100 * left + 1)

    ! Errors.
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
    call MPI_Put(given, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
    CHECK(ierror == MPI_ERR_RMA_SYNC)
    call MPI_Win_create_errhandler(handle_error, handler, ierror)
    call MPI_Win_set_errhandler(win, handler, ierror)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Win_unlock(0, win, ierror)
    CHECK(ierror == MPI_ERR_RMA_SYNC)
    CHECK(errors == 1)
    call MPI_Win_free(win, ierror)
    CHECK(ierror == MPI_SUCCESS)
    CHECK(win == MPI_WIN_NULL)

    ! Allocated, shared and dynamic.
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call c_f_pointer(base, allocated, [n])
    call MPI_Win_fence(0, win, ierror)
    place = 0
    call MPI_Put(given, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(all_are(allocated, 100 * left))
    call MPI_Win_free(win, ierror)

    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierror)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, win, ierror)
    call c_f_pointer(base, allocated, [n])
    allocated = rank
    call MPI_Win_shared_query(win, 0, bytes, unit, base, ierror)
    CHECK(bytes == 4 * n)
    CHECK(unit == 4)
    call MPI_Win_free(win, ierror)
    call MPI_Comm_free(node, ierror)

    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    bytes = 4 * n
    call MPI_Win_attach(win, memory, bytes, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Get_address(memory, value, ierror)
    call MPI_Sendrecv(value, 1, MPI_AINT, left, 5, place, 1, MPI_AINT, right, 5, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    memory = -1
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(given, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(all_are(memory, 100 * left))
    call MPI_Win_detach(win, memory, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Win_free(win, ierror)
    call MPI_Finalize(ierror)

contains

    ! Whether the elements are base + 1, base + 2 and so on.
    logical function all_are(values, base_value)
        integer, intent(in) :: values(n), base_value
        integer :: k
        all_are = all_equal(values, [(base_value + k, k = 1, n)])
    end function

    logical function all_equal(a, b)
        integer, intent(in) :: a(n), b(n)
        integer :: k
        all_equal = .true.
        do k = 1, n
            all_equal = all_equal .and. a(k) == b(k)
        end do
    end function
end program windows
