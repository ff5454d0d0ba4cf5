! Files in Fortran: strings, offsets, statuses, views, split calls, error handlers, and a data representation with
! subroutines of the program.
#include "fortran_test.inc"

! The functions of the program. In the representation, an integer of memory has the opposite sign in the file.
module file_functions
    use, intrinsic :: iso_c_binding
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: errors = 0, conversions = 0
contains

    subroutine handle_error(object, code)
        HANDLE(MPI_File) :: object
        integer :: code
        errors = errors + 1
    end subroutine

    subroutine negate(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        HANDLE(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: memory(:), stored(:)
        call c_f_pointer(userbuf, memory, [count])
        call c_f_pointer(filebuf, stored, [count])
        stored = -memory
        conversions = conversions + int(extra_state)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine extent_of(datatype, extent, extra_state, ierror)
        HANDLE(MPI_Datatype) :: datatype
        integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror
        extent = 4
        ierror = MPI_SUCCESS
    end subroutine
end module file_functions

program files
    use file_functions
    implicit none
    integer, parameter :: n = 50
    integer :: rank, tasks, ierror, i, count, amode, given(n), got(n)
    integer(kind=MPI_OFFSET_KIND) :: offset, length
    integer(kind=MPI_ADDRESS_KIND) :: lower, extent
    integer(kind=MPI_ADDRESS_KIND), save :: state = 7
    character(len=200) :: name
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    logical :: flag
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Datatype) :: pattern, etype, filetype
    HANDLE(MPI_Errhandler) :: handler
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Info) :: info
    STATUS(status)
    external :: check
    interface
        integer(c_int) function process_id() bind(c, name='getpid')
            use, intrinsic :: iso_c_binding
        end function
    end interface

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, tasks, ierror)
    ! Tests run at the same time, so the name contains a number that no other process has.
    write (name, '(a, i0)') '/tmp/poe-fortran-file-', process_id()
    call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)

    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
    CHECK(ierror == MPI_ERR_NO_SUCH_FILE)
    CHECK(file == MPI_FILE_NULL)
    amode = MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE
    call MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, file, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_File_get_amode(file, i, ierror)
    CHECK(i == amode)

    ! Interleaved integers, in an order that Fortran has.
    call MPI_Type_vector(n, 1, tasks, MPI_INTEGER, pattern, ierror)
    call MPI_Type_commit(pattern, ierror)
    offset = 8 + 4 * rank
    call MPI_File_set_view(file, offset, MPI_INTEGER, pattern, 'native', MPI_INFO_NULL, ierror)
    CHECK(ierror == MPI_SUCCESS)
    given = [(1000 * rank + i, i=1, n)]
    call MPI_File_write_all(file, given, n, MPI_INTEGER, status, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == n)
    call MPI_File_get_position(file, offset, ierror)
    CHECK(offset == n)
    call MPI_File_get_view(file, offset, etype, filetype, datarep, ierror)
    CHECK(offset == 8 + 4 * rank .and. datarep == 'native')
    CHECK(etype == MPI_INTEGER)
    call MPI_Type_get_extent(filetype, lower, extent, ierror)
    CHECK(extent == 4 * (tasks * (n - 1) + 1))
    call MPI_Type_free(filetype, ierror)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_get_size(file, length, ierror)
    CHECK(length == 8 + 4 * n * tasks)
    offset = 0
    got = 0
    call MPI_File_read_at_all_begin(file, offset, got, n, MPI_INTEGER, ierror)
    call MPI_File_read_at_all_end(file, got, status, ierror)
    CHECK(ierror == MPI_SUCCESS .and. all(got == given))
    offset = n - 5
    got = 0
    call MPI_File_iread_at(file, offset, got, 5, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, status, ierror)
    CHECK(all(got(1:5) == given(n - 4:n)))
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierror)
    CHECK(extent == 4)

    ! Errors, hints and the atomic mode.
    call MPI_File_create_errhandler(handle_error, handler, ierror)
    call MPI_File_set_errhandler(file, handler, ierror)
    call MPI_Errhandler_free(handler, ierror)
    offset = -1
    call MPI_File_seek(file, offset, MPI_SEEK_SET, ierror)
    CHECK(ierror == MPI_ERR_ARG .and. errors == 1)
    call MPI_File_set_atomicity(file, .true., ierror)
    call MPI_File_get_atomicity(file, flag, ierror)
    CHECK(flag)
    call MPI_File_get_info(file, info, ierror)
    CHECK(info /= MPI_INFO_NULL)
    call MPI_Info_free(info, ierror)

    ! The representation of the program, and none for reading.
    call MPI_Register_datarep('negative', MPI_CONVERSION_FN_NULL, negate, extent_of, state, ierror)
    CHECK(ierror == MPI_SUCCESS)
    offset = 0
    call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL, ierror)
    CHECK(ierror == MPI_SUCCESS)
    offset = n * rank
    call MPI_File_write_at(file, offset, given, n, MPI_INTEGER, status, ierror)
    CHECK(ierror == MPI_SUCCESS .and. conversions == 7)
    got = 0
    call MPI_File_read_at(file, offset, got, n, MPI_INTEGER, status, ierror)
    CHECK(ierror == MPI_SUCCESS .and. all(got == -given))

    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
    call MPI_File_write_ordered(file, [rank], 1, MPI_INTEGER, status, ierror)
    CHECK(ierror == MPI_SUCCESS)
    call MPI_File_get_position_shared(file, offset, ierror)
    CHECK(offset == tasks)
    call MPI_Type_free(pattern, ierror)
    call MPI_File_close(file, ierror)
    CHECK(ierror == MPI_SUCCESS)
    CHECK(file == MPI_FILE_NULL)
    call MPI_File_delete(name, MPI_INFO_NULL, ierror)
    CHECK(ierror == MPI_ERR_NO_SUCH_FILE)
    call MPI_Finalize(ierror)
end program files
