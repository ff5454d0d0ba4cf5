! Datatypes in Fortran: constructors, queries, names, packing, and the sizes of the types of the compiler.
#include "fortran_test.inc"

program types
    USE_MPI
    implicit none
    INCLUDE_MPI
    type particle
        sequence
        double precision :: place(3)
        integer :: kind
        integer :: padding
    end type
    type(particle) :: some(4), copies(4)
    integer :: ierror, size, i, position, matrix(4, 6), row(6), length
    integer :: num_integers, num_addresses, num_datatypes, combiner, integers(8)
    integer(kind=MPI_ADDRESS_KIND) :: places(2), lower, extent, addresses(8), first, bytes
    character :: packed(1000)
    character(len=MPI_MAX_OBJECT_NAME) :: name
    HANDLE(MPI_Datatype) :: parts(2), datatype, other, contents(8)
    HANDLE(MPI_Comm) :: comm
    STATUS(status)

    call MPI_Init(ierror)
    comm = MPI_COMM_SELF

    ! A type of the program as a structure.
    call MPI_Get_address(some(1), first, ierror)
    call MPI_Get_address(some(1)%kind, places(2), ierror)
    places(1) = 0
    places(2) = MPI_Aint_diff(places(2), first)
    CHECK(places(2) == 24)
    CHECK(MPI_Aint_add(first, places(2)) == first + 24)
    parts = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
    call MPI_Type_create_struct(2, [3, 1], places, parts, other, ierror)
    lower = 0
    extent = 32
    call MPI_Type_create_resized(other, lower, extent, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
    CHECK(lower == 0 .and. extent == 32)
    call MPI_Type_size(datatype, size, ierror)
    CHECK(size == 28)
    do i = 1, 4
        some(i) = particle([i + 0.25d0, i + 0.5d0, i + 0.75d0], i, -i)
        copies(i) = particle([0d0, 0d0, 0d0], 0, 99)
    end do
    call MPI_Sendrecv(some, 4, datatype, 0, 0, copies, 4, datatype, 0, 0, comm, status, ierror)
    CHECK(copies(4)%kind == 4 .and. copies(3)%place(3) == 3.75d0 .and. copies(2)%padding == 99)

    ! What it was made of.
    call MPI_Type_get_envelope(other, num_integers, num_addresses, num_datatypes, combiner, ierror)
    CHECK(num_integers == 3 .and. num_addresses == 2 .and. num_datatypes == 2)
    CHECK(combiner == MPI_COMBINER_STRUCT)
    contents = MPI_DATATYPE_NULL
    call MPI_Type_get_contents(other, 8, 8, 8, integers, addresses, contents, ierror)
    CHECK(all(integers(1:3) == [2, 3, 1]) .and. all(addresses(1:2) == places))
    CHECK(contents(1) == MPI_DOUBLE_PRECISION .and. contents(2) == MPI_INTEGER)
    CHECK(contents(3) == MPI_DATATYPE_NULL)

    ! Names: blanks at the end do not count.
    call MPI_Type_set_name(datatype, 'a particle  ', ierror)
    call MPI_Type_get_name(datatype, name, length, ierror)
    CHECK(name == 'a particle' .and. length == 10)
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
    CHECK(name == 'MPI_DOUBLE_PRECISION' .and. length == 20)
    call MPI_Type_free(datatype, ierror)
    call MPI_Type_free(other, ierror)

    ! A row of a matrix, as a vector and as a subarray.
    matrix = reshape([(i, i = 1, 24)], [4, 6])
    call MPI_Type_vector(6, 1, 4, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    call MPI_Sendrecv(matrix(3, 1), 1, datatype, 0, 0, row, 6, MPI_INTEGER, 0, 0, comm, status, ierror)
    CHECK(all(row == matrix(3, :)))
    call MPI_Type_free(datatype, ierror)
    call MPI_Type_create_subarray(2, [4, 6], [1, 6], [2, 0], MPI_ORDER_FORTRAN, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    row = 0
    call MPI_Sendrecv(matrix, 1, datatype, 0, 0, row, 6, MPI_INTEGER, 0, 0, comm, status, ierror)
    CHECK(all(row == matrix(3, :)))

    ! Packing.
    call MPI_Pack_size(1, datatype, comm, size, ierror)
    CHECK(size >= 24)
    position = 0
    call MPI_Pack(matrix, 1, datatype, packed, 1000, position, comm, ierror)
    call MPI_Pack(2.5, 1, MPI_REAL, packed, 1000, position, comm, ierror)
    position = 0
    row = 0
    call MPI_Unpack(packed, 1000, position, row, 6, MPI_INTEGER, comm, ierror)
    CHECK(all(row == matrix(3, :)))
    bytes = 0
    call MPI_Pack_external('external32 ', row, 6, MPI_INTEGER, packed, 1000_MPI_ADDRESS_KIND, bytes, ierror)
    CHECK(bytes == 24)
    CHECK(all(iachar(packed(1:4)) == [0, 0, 0, 3]))
    call MPI_Type_free(datatype, ierror)

    ! Types by precision, by size, and of the compiler.
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, datatype, ierror)
    call MPI_Type_size(datatype, size, ierror)
    CHECK(size == 8)
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, datatype, ierror)
    call MPI_Type_size(datatype, size, ierror)
    CHECK(size == 4)
    call check_size(MPI_LOGICAL, storage_size(.true.) / 8)
    call check_size(MPI_INTEGER, storage_size(1) / 8)
    call check_size(MPI_REAL, storage_size(1.0) / 8)
    call check_size(MPI_COMPLEX, storage_size((1.0, 1.0)) / 8)
    call check_size(MPI_DOUBLE_COMPLEX, storage_size((1d0, 1d0)) / 8)
    call check_size(MPI_CHARACTER, 1)
    call check_size(MPI_INTEGER8, 8)
    call check_size(MPI_AINT, 8)
#if !defined(WITH_MPIF_H)
    call MPI_Sizeof(some%kind, size, ierror)
    CHECK(size == 4)
    call MPI_Sizeof(1d0, size, ierror)
    CHECK(size == 8)
    call MPI_Sizeof('a', size, ierror)
    CHECK(size == 1)
#endif
    call check_sums_by_precision()
    call MPI_Finalize(ierror)

contains

    ! Predefined operations are defined on datatypes by precision, too.
    subroutine check_sums_by_precision()
        double precision :: given(2), total(2)
        complex(kind=kind(1d0)) :: one, sum_of_ones
        integer :: tasks, largest
        call MPI_Comm_size(MPI_COMM_WORLD, tasks, ierror)
        given = [0.5d0, -2d0]
        call MPI_Type_create_f90_real(15, MPI_UNDEFINED, datatype, ierror)
        call MPI_Allreduce(given, total, 2, datatype, MPI_SUM, MPI_COMM_WORLD, ierror)
        CHECK(all(total == tasks * given))
        call MPI_Reduce_local(given, total, 2, datatype, MPI_SUM, ierror)
        CHECK(all(total == (tasks + 1) * given))
        one = (1d0, -3d0)
        call MPI_Type_create_f90_complex(15, MPI_UNDEFINED, datatype, ierror)
        call MPI_Allreduce(one, sum_of_ones, 1, datatype, MPI_SUM, MPI_COMM_WORLD, ierror)
        CHECK(sum_of_ones == tasks * one)
        call MPI_Type_create_f90_integer(9, datatype, ierror)
        call MPI_Allreduce(7, largest, 1, datatype, MPI_MAX, MPI_COMM_WORLD, ierror)
        CHECK(largest == 7)
    end subroutine

    subroutine check_size(which, expected)
        HANDLE(MPI_Datatype) :: which
        integer :: expected
        call MPI_Type_size(which, size, ierror)
        CHECK(size == expected)
    end subroutine
end program types
