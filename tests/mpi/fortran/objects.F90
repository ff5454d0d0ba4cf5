! What programs attach to objects, in Fortran: attributes with functions of the program, error handlers, names, Info,
! error codes, generalized requests, and the functions of environment.
#include "fortran_test.inc"

! The functions of the program. They count their calls.
module functions
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: copies = 0, deletions = 0, errors = 0, last_error = 0, queries = 0, frees = 0, cancels = 0
contains

    subroutine copy(object, keyval, extra_state, value_in, value_out, flag, ierror)
        HANDLE(MPI_Comm) :: object
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
        logical :: flag
        copies = copies + 1
        value_out = value_in + extra_state
        flag = value_in > 0
        ierror = MPI_SUCCESS
    end subroutine

    subroutine remove(object, keyval, value, extra_state, ierror)
        HANDLE(MPI_Comm) :: object
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
        deletions = deletions + 1
        ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, value == 13)
    end subroutine

    subroutine handle_error(object, code)
        HANDLE(MPI_Comm) :: object
        integer :: code
        errors = errors + 1
        last_error = code
    end subroutine

    subroutine query(extra_state, status, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        STATUS(status)
        integer :: ierror
        queries = queries + 1
        SOURCE_OF(status) = int(extra_state)
        TAG_OF(status) = 5
        call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
    end subroutine

    subroutine release(extra_state, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror
        frees = frees + 1
        extra_state = extra_state + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra_state, complete, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror
        cancels = cancels + merge(10, 1, complete)
        ierror = MPI_SUCCESS
    end subroutine
end module functions

program objects
    use functions
    implicit none
    integer :: keyval, plain, ierror, length, error_class, code, count, n, provided, version, subversion
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    integer(kind=MPI_ADDRESS_KIND), volatile :: shared
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: message
    character(len=MPI_MAX_PROCESSOR_NAME) :: processor
    character(len=8) :: short
    HANDLE(MPI_Comm) :: comm, twin
    HANDLE(MPI_Datatype) :: datatype, other
    HANDLE(MPI_Errhandler) :: handler, previous
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Group) :: group, part
    STATUS(status)
    external :: check

    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierror)
    CHECK(ierror == MPI_SUCCESS .and. provided >= MPI_THREAD_SINGLE)
    call MPI_Get_version(version, subversion, ierror)
    CHECK(version == MPI_VERSION .and. subversion == MPI_SUBVERSION)
    call MPI_Get_processor_name(processor, length, ierror)
    CHECK(length > 0 .and. len_trim(processor) == length)

    ! Attributes. Their values are long integers, and a copy may differ.
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    state = 1000
    call MPI_Comm_create_keyval(copy, remove, keyval, state, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, state, ierror)
    state = 0
    value = 5000000000_MPI_ADDRESS_KIND
    call MPI_Comm_set_attr(comm, keyval, value, ierror)
    call MPI_Comm_set_attr(comm, plain, -value, ierror)
    value = 0
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    CHECK(flag .and. value == 5000000000_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, twin, ierror)
    CHECK(copies == 1)
    call MPI_Comm_get_attr(twin, keyval, value, flag, ierror)
    CHECK(flag .and. value == 5000001000_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(twin, plain, value, flag, ierror)
    CHECK(flag .and. value == -5000000000_MPI_ADDRESS_KIND)
    call MPI_Comm_delete_attr(twin, plain, ierror)
    call MPI_Comm_get_attr(twin, plain, value, flag, ierror)
    CHECK(.not. flag)
    call MPI_Comm_free(twin, ierror)
    CHECK(deletions == 1)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    value = 13
    call MPI_Comm_set_attr(comm, keyval, value, ierror)
    CHECK(deletions == 2)
    call MPI_Comm_delete_attr(comm, keyval, ierror)
    CHECK(ierror /= MPI_SUCCESS .and. deletions == 3)
    value = -1
    call MPI_Comm_set_attr(comm, keyval, value, ierror)
    CHECK(ierror /= MPI_SUCCESS)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    CHECK(flag .and. value == 13)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    CHECK(flag .and. value >= 32767)
    call MPI_Comm_free_keyval(plain, ierror)
    CHECK(plain == MPI_KEYVAL_INVALID)
    call MPI_Type_contiguous(3, MPI_INTEGER, datatype, ierror)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, plain, state, ierror)
    value = 8
    call MPI_Type_set_attr(datatype, plain, value, ierror)
    call MPI_Type_dup(datatype, other, ierror)
    value = 0
    call MPI_Type_get_attr(other, plain, value, flag, ierror)
    CHECK(flag .and. value == 8)
    call MPI_Type_free(datatype, ierror)
    call MPI_Type_free(other, ierror)
    call MPI_Type_free_keyval(plain, ierror)
#if !defined(WITH_MPI_F08)
    call old_attributes()
#endif

    ! Error handlers, codes and texts.
    call MPI_Comm_create_errhandler(handle_error, handler, ierror)
    call MPI_Comm_set_errhandler(comm, handler, ierror)
    call MPI_Comm_get_errhandler(comm, previous, ierror)
    CHECK(previous == handler)
    call MPI_Errhandler_free(previous, ierror)
    call MPI_Errhandler_free(handler, ierror)
    CHECK(handler == MPI_ERRHANDLER_NULL)
    call MPI_Send(n, 1, MPI_INTEGER, 1000, 0, comm, ierror)
    CHECK(errors == 1 .and. ierror == last_error)
    call MPI_Error_class(ierror, error_class, ierror)
    CHECK(error_class == MPI_ERR_RANK)
    call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG, ierror)
    CHECK(errors == 2 .and. last_error == MPI_ERR_TAG)
    call MPI_Add_error_class(error_class, ierror)
    call MPI_Add_error_code(error_class, code, ierror)
    call MPI_Add_error_string(code, 'the pump is dry   ', ierror)
    call MPI_Error_string(code, message, length, ierror)
    CHECK(message == 'the pump is dry' .and. length == 15)

    ! Names.
    call MPI_Comm_set_name(comm, ' two words   ', ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    CHECK(name == ' two words' .and. length == 10)
    call MPI_Comm_get_name(comm, short, length, ierror)
    CHECK(short == ' two wor')

    ! Info: blanks around keys and values do not count.
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  colour ', '  dark blue  ', ierror)
    call MPI_Info_set(info, 'size', '7', ierror)
    call MPI_Info_get_nkeys(info, n, ierror)
    CHECK(n == 2)
    call MPI_Info_get_nthkey(info, 0, name, ierror)
    CHECK(name == 'colour')
    call MPI_Info_get_valuelen(info, 'colour', length, flag, ierror)
    CHECK(flag .and. length == 9)
    message = 'unchanged'
    call MPI_Info_get(info, 'taste', 20, message, flag, ierror)
    CHECK(.not. flag .and. message == 'unchanged')
    call MPI_Info_get(info, 'colour', 20, message, flag, ierror)
    CHECK(flag .and. message == 'dark blue')
    call MPI_Info_get(info, 'colour', 4, message, flag, ierror)
    CHECK(flag .and. message == 'dark')
    length = 6
    call MPI_Info_get_string(info, 'colour', length, message, flag, ierror)
    CHECK(flag .and. message == 'dark b' .and. length == 9)
    length = 0
    message = 'unchanged'
    call MPI_Info_get_string(info, 'colour', length, message, flag, ierror)
    CHECK(flag .and. length == 9 .and. message == 'unchanged')
    call MPI_Info_delete(info, 'size', ierror)
    call MPI_Info_free(info, ierror)
    CHECK(info == MPI_INFO_NULL)
    call MPI_Info_create_env(info, ierror)
    call MPI_Info_free(info, ierror)

    ! Groups and ranges of ranks.
    call MPI_Comm_group(comm, group, ierror)
    call MPI_Group_range_incl(group, 1, reshape([0, 0, 1], [3, 1]), part, ierror)
    call MPI_Group_size(part, n, ierror)
    CHECK(n == 1)
    call MPI_Group_free(part, ierror)
    call MPI_Group_free(group, ierror)
    CHECK(group == MPI_GROUP_NULL)

    ! A generalized request. Its functions get the variable of the program.
    shared = 40
    call MPI_Grequest_start(query, release, cancel, shared, request, ierror)
    call MPI_Test(request, flag, status, ierror)
    CHECK(.not. flag)
    call cancel_request(request)
    CHECK(cancels == 1)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    CHECK(queries == 1 .and. frees == 1 .and. shared == 41)
    CHECK(SOURCE_OF(status) == 40 .and. TAG_OF(status) == 5)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 3)

    ! An attribute outlives its key.
    call MPI_Comm_free_keyval(keyval, ierror)
    call free_copy_of_key()
    call name_process_set()
    call MPI_Pcontrol(1)
    call MPI_Finalize(ierror)

contains

    subroutine cancel_request(one)
        HANDLE(MPI_Request), intent(in) :: one
        call MPI_Cancel(one, ierror)
    end subroutine

    ! The call reads the key, so the compiler must not remove the assignment. The names of variables are free, because
    ! all names of the modules begin with MPI_.
    subroutine free_copy_of_key()
        integer :: sizeof_integer4
        call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierror)
        sizeof_integer4 = keyval
        call MPI_Comm_free_keyval(sizeof_integer4, ierror)
        CHECK(ierror == MPI_SUCCESS .and. sizeof_integer4 == MPI_KEYVAL_INVALID)
    end subroutine

    ! The length does not count a null character.
    subroutine name_process_set()
        HANDLE(MPI_Session) :: session
        character(len=40) :: name
        integer :: length
        call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
        name = 'unchanged'
        length = 0
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierror)
        CHECK(length == 11 .and. name == 'unchanged')
        length = 40
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierror)
        CHECK(length == 11 .and. name == 'mpi://WORLD')
        call MPI_Session_finalize(session, ierror)
    end subroutine

#if !defined(WITH_MPI_F08)

    ! The functions of MPI 1: all integers are of type INTEGER.
    subroutine old_attributes()
        integer :: old, small
        call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 3, ierror)
        call MPI_Attr_put(comm, old, -44, ierror)
        call MPI_Comm_dup(comm, twin, ierror)
        small = 0
        call MPI_Attr_get(twin, old, small, flag, ierror)
        CHECK(flag .and. small == -44)
        call MPI_Comm_get_attr(twin, old, value, flag, ierror)
        CHECK(flag .and. value == -44)
        call MPI_Attr_delete(twin, old, ierror)
        call MPI_Attr_get(twin, old, small, flag, ierror)
        CHECK(.not. flag)
        call MPI_Comm_free(twin, ierror)
        call MPI_Attr_delete(comm, old, ierror)
        call MPI_Keyval_free(old, ierror)
        CHECK(old == MPI_KEYVAL_INVALID)
        call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, small, flag, ierror)
        CHECK(flag .and. small >= 32767)
    end subroutine
#endif
end program objects
