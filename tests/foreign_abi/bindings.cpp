// The C++ bindings, which MPI 3.0 has removed and MPICH's library libmpichcxx still has: an
// operation, an attribute, exceptions, an error handler.
#include <cstdio>
#include <mpi.h>

namespace {

int failed = 0;
int handled = 0;

#define CHECK(condition)                                                 \
    do {                                                                 \
        if (!(condition)) {                                              \
            std::printf("line %d: %s is false\n", __LINE__, #condition); \
            ++failed;                                                    \
        }                                                                \
    } while (0)

void largest(const void* in, void* inout, int count, const MPI::Datatype& datatype) {
    const int* from = static_cast<const int*>(in);
    int* to = static_cast<int*>(inout);
    CHECK(datatype == MPI::INT);
    for (int i = 0; i < count; ++i)
        if (from[i] > to[i]) to[i] = from[i];
}

int copies = 0;
int copy(const MPI::Comm&, int, void* state, void* in, void* out, bool& flag) {
    CHECK(state == &copies);
    ++copies;
    *static_cast<void**>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

void handler(MPI::Comm& comm, int* code, ...) {
    CHECK(comm == MPI::COMM_WORLD);
    CHECK(MPI::Get_error_class(*code) == MPI::ERR_RANK);
    ++handled;
}

}  // namespace

int main(int argc, char** argv) {
    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank();
    const int size = MPI::COMM_WORLD.Get_size();
    const int next = (rank + 1) % size;
    const int before = (rank + size - 1) % size;

    int in[3] = {-1, -1, -1};
    const int out[2] = {rank, 5};
    MPI::Request request = MPI::COMM_WORLD.Irecv(in, 3, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG);
    MPI::COMM_WORLD.Send(out, 2, MPI::INT, next, 6);
    MPI::Status status;
    request.Wait(status);
    CHECK(status.Get_source() == before && status.Get_tag() == 6);
    CHECK(status.Get_count(MPI::INT) == 2 && in[0] == before);

    MPI::Op op;
    op.Init(largest, true);
    int best = -1;
    MPI::COMM_WORLD.Allreduce(&rank, &best, 1, MPI::INT, op);
    CHECK(best == size - 1);
    op.Free();

    const int keyval = MPI::Comm::Create_keyval(copy, MPI::Comm::NULL_DELETE_FN, &copies);
    int word = 0;
    void* found = nullptr;
    MPI::COMM_WORLD.Set_attr(keyval, &word);
    MPI::Intracomm twin = MPI::COMM_WORLD.Dup();
    CHECK(copies == 1);
    CHECK(twin.Get_attr(keyval, &found) && found == &word);
    twin.Free();
    MPI::COMM_WORLD.Delete_attr(keyval);

    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    bool caught = false;
    try {
        MPI::COMM_WORLD.Send(out, 1, MPI::INT, size, 0);
    } catch (MPI::Exception& error) {
        caught = error.Get_error_class() == MPI::ERR_RANK;
    }
#if !defined(OPEN_MPI) || OMPI_HAVE_CXX_EXCEPTION_SUPPORT
    CHECK(caught);
#endif
    MPI::Errhandler mine = MPI::Comm::Create_errhandler(handler);
    MPI::COMM_WORLD.Set_errhandler(mine);
    MPI::COMM_WORLD.Send(out, 1, MPI::INT, size, 0);
    CHECK(handled == 1);
    mine.Free();
    MPI::Finalize();
    std::printf("task %d of %d: %d checks failed\n", rank, size, failed);
    return failed != 0;
}
