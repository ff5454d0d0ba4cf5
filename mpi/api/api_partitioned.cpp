// Partitioned communication (MPI 5.0, chapter 4).
#include <memory>
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/point/partitioned.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

// What both functions that make such requests are given.
struct PartitionedCall {
    const void* buf;
    int partitions;
    MPI_Count count;
    MPI_Datatype datatype;
    int rank;
    int tag;
    MPI_Comm comm;
    MPI_Info info;
};

bool refuse_partitions(Call& call, const std::string& what, const std::string& remedy) {
    call.fail(MPI_ERR_ARG, "partitions", what, remedy);
    return false;
}

// Reports an error and returns false if the arguments are wrong.
bool resolve(Call& call, const PartitionedCall& given, PartitionedArguments& made) {
    MessageArguments message;
    if (!resolve_comm(call, given.comm, message)) return false;
    call.about(ErrorObject(given.comm));
    if (given.partitions < 0)
        return refuse_partitions(call, std::to_string(given.partitions) + " is negative", "");
    if (given.count < 0) return checks::check_count(call, given.count, "count");
    MPI_Count total = 0;
    if (__builtin_mul_overflow(given.count, given.partitions, &total))
        return refuse_partitions(call,
                                 std::to_string(given.partitions) + " partitions of " +
                                     std::to_string(given.count) +
                                     " elements are more than 2^63 elements",
                                 "");
    if (!resolve_buffer(call, given.buf, total, given.datatype, message, kSendNames) ||
        !resolve_rank(call, given.rank, message, kSendNames) ||
        !resolve_tag(call, given.tag, message, kSendNames))
        return false;
    if (given.info != MPI_INFO_NULL && !checks::check_info(call, given.info, "info")) return false;
    made = {message.comm,     message.type, const_cast<void*>(given.buf),
            given.partitions, given.count,  message.task,
            given.rank,       given.tag,    message.nobody};
    return true;
}

template <typename Side>
int prepare(Call& call, const PartitionedCall& given, MPI_Request* request) {
    PartitionedArguments arguments;
    if (!resolve(call, given, arguments)) return call.code();
    *request = handle_of(make_work(
        call.runtime(), std::make_unique<Side>(call.runtime(), arguments), arguments.comm, true));
    return MPI_SUCCESS;
}

// The request and its side of a partitioned communication; null after an error was reported.
template <typename Side>
struct Found {
    Request* request = nullptr;
    Side* side = nullptr;
};

template <typename Side>
Found<Side> find_side(Call& call, MPI_Request handle, const char* kind, const char* maker) {
    Request* const request = find_request(handle);
    if (request == nullptr) {
        refuse_request(call, handle, "request");
        return {};
    }
    if (request->comm != nullptr) call.about(ErrorObject(handle_of(*request->comm)));
    auto* const side = dynamic_cast<Side*>(request->work.get());
    if (side == nullptr)
        call.fail(MPI_ERR_REQUEST, "request", std::string("it is no partitioned ") + kind,
                  std::string("give a request of ") + maker);
    return {request, side};
}

bool check_partition(Call& call, const Partitioned& side, int partition, const char* name) {
    if (partition >= 0 && partition < side.partitions()) return true;
    call.fail(MPI_ERR_ARG, name,
              std::to_string(partition) + " is no partition of a request with " +
                  std::to_string(side.partitions()) + " partitions",
              "give a number from 0 on");
    return false;
}

// Sends `count` partitions, of which number_of(i) is the i-th. Sends none if one is wrong.
template <typename NumberOf>
int send_partitions(Call& call, MPI_Request handle, int count, const char* name,
                    NumberOf&& number_of) {
    const auto found = find_side<PartitionedSend>(call, handle, "send", "MPI_Psend_init");
    if (found.side == nullptr) return call.code();
    if (!found.request->active)
        return call.fail(MPI_ERR_REQUEST, "request", "it is not active",
                         "call MPI_Start before the partitions are ready");
    for (int i = 0; i < count; ++i) {
        const int partition = number_of(i);
        if (!check_partition(call, *found.side, partition, name)) return call.code();
        if (found.side->is_ready(partition))
            return call.fail(
                MPI_ERR_ARG, name,
                "partition " + std::to_string(partition) + " is marked as ready already",
                "mark each partition once per start");
    }
    const Noted noted(call, about_request(*found.request));
    for (int i = 0; i < count; ++i) {
        // A list may name a partition twice.
        if (!found.side->is_ready(number_of(i))) found.side->send(number_of(i));
    }
    return MPI_SUCCESS;
}

}  // namespace

int psend_init(Call& call, const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return prepare<PartitionedSend>(call, {buf, partitions, count, datatype, dest, tag, comm, info},
                                    request);
}

int precv_init(Call& call, void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return prepare<PartitionedReceive>(
        call, {buf, partitions, count, datatype, dest, tag, comm, info}, request);
}

int pready(Call& call, int partition, MPI_Request request) {
    return send_partitions(call, request, 1, "partition", [&](int) { return partition; });
}

int pready_range(Call& call, int partition_low, int partition_high, MPI_Request request) {
    if (partition_low > partition_high)
        return call.fail(MPI_ERR_ARG, "partition_high",
                         std::to_string(partition_high) + " is less than partition_low, " +
                             std::to_string(partition_low));
    if (partition_low < 0)
        return call.fail(MPI_ERR_ARG, "partition_low",
                         std::to_string(partition_low) + " is negative");
    // A range is at most one partition longer than what an int can hold.
    const auto found = find_side<PartitionedSend>(call, request, "send", "MPI_Psend_init");
    if (found.side == nullptr) return call.code();
    if (!check_partition(call, *found.side, partition_high, "partition_high")) return call.code();
    return send_partitions(call, request, partition_high - partition_low + 1, "partition_low",
                           [&](int i) { return partition_low + i; });
}

int pready_list(Call& call, int length, const int* array_of_partitions, MPI_Request request) {
    if (length < 0)
        return call.fail(MPI_ERR_ARG, "length", std::to_string(length) + " is negative");
    if (length > 0 && array_of_partitions == nullptr)
        return call.fail(MPI_ERR_ARG, "array_of_partitions", "it is a null pointer");
    return send_partitions(call, request, length, "array_of_partitions",
                           [&](int i) { return array_of_partitions[i]; });
}

int parrived(Call& call, MPI_Request request, int partition, int* flag) {
    const auto found = find_side<PartitionedReceive>(call, request, "receive", "MPI_Precv_init");
    if (found.side == nullptr || !check_partition(call, *found.side, partition, "partition"))
        return call.code();
    *flag = 1;
    if (!found.request->active || found.request->ended) return MPI_SUCCESS;
    if (!found.side->has_arrived(partition)) {
        look(call.runtime(), {&request, 1});
        if (!found.request->ended && !found.side->has_arrived(partition)) {
            *flag = 0;
            pause_after_look(call.runtime());
        }
    }
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
