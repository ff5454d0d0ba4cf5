! What the test programs of Fortran share. Each program is compiled for each interface: with WITH_MPIF_H,
! WITH_MPI or WITH_MPI_F08 defined. The macros hide what differs: how a program gets the interface,
! the types of handles and statuses.
#if defined(WITH_MPIF_H)
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define HANDLE(kind) integer
#define STATUS(name) integer ::name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define ERROR_OF(name) name(MPI_ERROR)
#define SOURCE_OF_ONE(name, i) name(MPI_SOURCE, i)
#elif defined(WITH_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#define HANDLE(kind) integer
#define STATUS(name) integer ::name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define ERROR_OF(name) name(MPI_ERROR)
#define SOURCE_OF_ONE(name, i) name(MPI_SOURCE, i)
#elif defined(WITH_MPI_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status)::name
#define STATUSES(name, n) type(MPI_Status)::name(n)
#define SOURCE_OF(name) name % MPI_SOURCE
#define TAG_OF(name) name % MPI_TAG
#define ERROR_OF(name) name % MPI_ERROR
#define SOURCE_OF_ONE(name, i) name(i) % MPI_SOURCE
#endif

! The condition is true. A check that fails names the line and ends the job.
#define CHECK(condition) call check(condition, __LINE__)
