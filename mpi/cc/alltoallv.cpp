// Groups of alltoallv (CC-MPI, 4.2): the lengths of all blocks, and the schedule that was computed
// from them. Data move in the phases of collectives/schedule/phases.hpp, on a communicator of their
// own, which is made once for each communicator of the program and kept with it (static group
// management).
//
// In a phase, a member starts its receive, and signals that to its sender by a message without
// data; a member sends when it has the signal of its receiver. So phases are kept apart without a
// barrier. The last phase of short messages, which may compete, has no signals.
#include <algorithm>
#include <array>

#include "collectives/schedule/phases.hpp"
#include "mpi/cc/groups.hpp"

namespace poe::mpi::cc {
namespace {

using collectives::Phase;
using collectives::PhasedMessage;

constexpr const char* kOperation = "Alltoallv";
enum Tag : int { kData, kSignal };

// By schedule, from MPIX_CC_SIMPLE on. MPIX_CC_AUTO is MPIX_CC_SIMPLE: its blocks go in pieces, of
// which few are under way at a time, so the model predicts that the busiest cable is never idle. A
// phase lasts as long as its longest message, and is preceded by signals. Phases were also slower
// in all measurements (docs/decisions/056-plan-orders-messages.md).
using collectives::PhaseMethod;
constexpr PhaseMethod kMethods[] = {PhaseMethod::kSimple, PhaseMethod::kGreedy,
                                    PhaseMethod::kAllToAll};
static_assert(MPIX_CC_AUTO == 0 && MPIX_CC_SIMPLE == 1 && MPIX_CC_GREEDY == 2 &&
              MPIX_CC_ALL_TO_ALL == 3);
PhaseMethod method_of(int schedule) {
    return kMethods[std::max<int>(schedule, MPIX_CC_SIMPLE) - MPIX_CC_SIMPLE];
}

// A phase as one member sees it.
struct OwnPhase {
    std::vector<int> sources;
    std::vector<int> destinations;
    bool signals = false;
};

struct AlltoallvGroup final : Group {
    explicit AlltoallvGroup(MPI_Comm its_comm) : Group(kOperation, its_comm) {}
    MPI_Comm data = MPI_COMM_NULL;    // owned by the attribute of `comm`
    int schedule = MPIX_CC_SIMPLE;    // never MPIX_CC_AUTO
    int phases = 0;                   // of all members
    std::vector<MPI_Count> outgoing;  // bytes to and from each member
    std::vector<MPI_Count> incoming;
    std::vector<OwnPhase> own;
};

// The communicator for the data of a communicator of the program; it is freed with it.
int free_data(MPI_Comm, int, void* value, void*) {
    auto* data = static_cast<MPI_Comm*>(value);
    const int code = MPI_Comm_free(data);
    delete data;
    return code;
}
int data_comm_of(MPI_Comm comm, MPI_Comm& data) {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_data, &made, nullptr);
        return made;
    }();
    void* value = nullptr;
    int found = 0;
    int code = MPI_Comm_get_attr(comm, key, &value, &found);
    if (code == MPI_SUCCESS && found == 0) {
        auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
        code = MPI_Comm_dup(comm, made.get());
        if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(comm, key, made.get());
        if (code == MPI_SUCCESS) value = made.release();
    }
    if (code == MPI_SUCCESS) data = *static_cast<MPI_Comm*>(value);
    return code;
}

// Chooses the schedule, computes the phases and keeps those of this member.
void plan(AlltoallvGroup& group, int rank, std::uint32_t n, const std::vector<MPI_Count>& bytes) {
    collectives::Shape shape;
    shape.operation = collectives::Operation::kIndex;
    shape.n = n;
    shape.matrix.assign(bytes.begin(), bytes.end());
    const std::vector<PhasedMessage> messages = collectives::messages_between(shape);
    const collectives::PhaseDecision decision =
        collectives::decide_phases(n, messages, method_of(group.schedule));
    const std::vector<Phase>& phases = decision.phases;
    group.schedule = std::max<int>(group.schedule, MPIX_CC_SIMPLE);
    group.phases = static_cast<int>(phases.size());
    for (int other = 0; other < static_cast<int>(n); ++other) {
        group.outgoing.push_back(
            bytes[static_cast<std::size_t>(rank) * n + static_cast<std::size_t>(other)]);
        group.incoming.push_back(
            bytes[static_cast<std::size_t>(other) * n + static_cast<std::size_t>(rank)]);
    }
    for (std::size_t k = 0; k < phases.size(); ++k) {
        OwnPhase own;
        own.signals = k > 0 && phases[k].front().bytes >= collectives::kShortBlock;
        for (const PhasedMessage& each : phases[k]) {
            if (static_cast<int>(each.to) == rank)
                own.sources.push_back(static_cast<int>(each.from));
            if (static_cast<int>(each.from) == rank)
                own.destinations.push_back(static_cast<int>(each.to));
        }
        if (!own.sources.empty() || !own.destinations.empty()) group.own.push_back(std::move(own));
    }
}

// What the two control functions share. False: the arguments were refused, with `code`.
bool begin_control(const char* function, int schedule, MPI_Comm comm, MPIX_Cc* group, int& code) {
    code = MPI_SUCCESS;
    if (group == nullptr) {
        code = refuse(comm, function, "the pointer to the group is null",
                      "give the address of a handle");
    } else if (schedule < MPIX_CC_AUTO || schedule > MPIX_CC_ALL_TO_ALL) {
        code = refuse(comm, function, "the schedule is " + std::to_string(schedule),
                      "give one of MPIX_CC_AUTO, _SIMPLE, _GREEDY and _ALL_TO_ALL");
    } else {
        *group = MPIX_CC_NULL;
        int inter = 0;
        code = MPI_Comm_test_inter(comm, &inter);
        if (code == MPI_SUCCESS && inter != 0)
            code = refuse(comm, function, "the communicator is an intercommunicator",
                          "give an intracommunicator");
    }
    return code == MPI_SUCCESS;
}

int finish_control(int schedule, MPI_Comm comm, int rank, int n,
                   const std::vector<MPI_Count>& bytes, MPIX_Cc* group) {
    auto made = std::make_unique<AlltoallvGroup>(comm);
    made->schedule = schedule;
    const int code = data_comm_of(comm, made->data);
    if (code != MPI_SUCCESS) return code;
    plan(*made, rank, static_cast<std::uint32_t>(n), bytes);
    *group = keep(std::move(made));
    return MPI_SUCCESS;
}

// A buffer with a block for each member.
struct Blocks {
    const void* buffer;
    const int* counts;
    const int* starts;
    MPI_Datatype type;
    MPI_Count size = 0;
    MPI_Aint extent = 0;

    bool find_type() {
        MPI_Aint lower = 0;
        return MPI_Type_size_c(type, &size) == MPI_SUCCESS &&
               MPI_Type_get_extent(type, &lower, &extent) == MPI_SUCCESS;
    }
    MPI_Count bytes(int r) const { return size * counts[r]; }
    void* at(int r) const {
        return static_cast<char*>(const_cast<void*>(buffer)) + extent * starts[r];
    }
};

int run_phase(const OwnPhase& phase, const Blocks& out, const Blocks& in, MPI_Comm comm) {
    std::vector<MPI_Request> requests;
    const auto next = [&]() -> MPI_Request* { return &requests.emplace_back(MPI_REQUEST_NULL); };
    int code = MPI_SUCCESS;
    for (const int from : phase.sources) {
        code = MPI_Irecv(in.at(from), in.counts[from], in.type, from, kData, comm, next());
        if (code == MPI_SUCCESS && phase.signals)
            code = MPI_Isend(nullptr, 0, MPI_BYTE, from, kSignal, comm, next());
        if (code != MPI_SUCCESS) return code;
    }
    for (const int to : phase.destinations) {
        if (phase.signals)
            code = MPI_Recv(nullptr, 0, MPI_BYTE, to, kSignal, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Isend(out.at(to), out.counts[to], out.type, to, kData, comm, next());
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace
}  // namespace poe::mpi::cc

using namespace poe::mpi::cc;

int MPIX_Alltoallv_control1(const int sendcounts[], MPI_Datatype sendtype, const int recvcounts[],
                            MPI_Datatype recvtype, int schedule, MPI_Comm comm, MPIX_Cc* group) {
    constexpr const char* kName = "Alltoallv_control1";
    int code = MPI_SUCCESS;
    if (!begin_control(kName, schedule, comm, group, code)) return code;
    int rank = 0;
    int n = 0;
    Blocks out{nullptr, sendcounts, nullptr, sendtype};
    Blocks in{nullptr, recvcounts, nullptr, recvtype};
    if ((code = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(comm, &n)) != MPI_SUCCESS)
        return code;
    if (!out.find_type() || !in.find_type()) return MPI_ERR_TYPE;
    std::vector<MPI_Count> own;
    for (int r = 0; r < n; ++r) own.push_back(out.bytes(r));
    std::vector<MPI_Count> all(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    code = MPI_Allgather(own.data(), n, MPI_COUNT, all.data(), n, MPI_COUNT, comm);
    if (code != MPI_SUCCESS) return code;
    // All members learn of a disagreement: the lowest rank that has one.
    int wrong = n;
    int sender = 0;
    for (int r = 0; r < n && wrong == n; ++r) {
        if (all[static_cast<std::size_t>(r) * static_cast<std::size_t>(n) +
                static_cast<std::size_t>(rank)] == in.bytes(r))
            continue;
        wrong = rank;
        sender = r;
    }
    std::array<int, 2> mine{wrong, sender};
    std::array<int, 2> first{};
    code = MPI_Allreduce(mine.data(), first.data(), 1, MPI_2INT, MPI_MINLOC, comm);
    if (code != MPI_SUCCESS) return code;
    if (first[0] < n)
        return refuse(comm, kName,
                      "rank " + std::to_string(first[0]) +
                          " does not receive as many bytes as rank " + std::to_string(first[1]) +
                          " sends to it",
                      "give matching counts and datatypes in all tasks");
    const std::array<int, 2> limits{schedule, -schedule};
    std::array<int, 2> most{};
    code = MPI_Allreduce(limits.data(), most.data(), 2, MPI_INT, MPI_MAX, comm);
    if (code != MPI_SUCCESS) return code;
    if (most[0] != -most[1])
        return refuse(comm, kName, "the members give different schedules",
                      "give the same schedule in all members");
    return finish_control(schedule, comm, rank, n, all, group);
}

int MPIX_Alltoallv_control2(const MPI_Count bytes[], int schedule, MPI_Comm comm, MPIX_Cc* group) {
    constexpr const char* kName = "Alltoallv_control2";
    int code = MPI_SUCCESS;
    if (!begin_control(kName, schedule, comm, group, code)) return code;
    int rank = 0;
    int n = 0;
    if ((code = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(comm, &n)) != MPI_SUCCESS)
        return code;
    if (bytes == nullptr)
        return refuse(comm, kName, "bytes is null", "give the bytes from each rank to each rank");
    const std::vector<MPI_Count> all(bytes, bytes + static_cast<std::ptrdiff_t>(n) * n);
    if (std::any_of(all.begin(), all.end(), [](MPI_Count each) { return each < 0; }))
        return refuse(comm, kName, "a length is negative", "give lengths in bytes, from 0 on");
    return finish_control(schedule, comm, rank, n, all, group);
}

int MPIX_Alltoallv_data_trans2(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPIX_Cc handle) {
    constexpr const char* kName = "Alltoallv_data_trans2";
    int code = MPI_SUCCESS;
    const auto* group = static_cast<AlltoallvGroup*>(find(handle, kOperation, kName, comm, code));
    if (group == nullptr) return code;
    if (sendbuf == MPI_IN_PLACE)
        return refuse(comm, kName, "sendbuf is MPI_IN_PLACE", "give a buffer of its own");
    Blocks out{sendbuf, sendcounts, sdispls, sendtype};
    Blocks in{recvbuf, recvcounts, rdispls, recvtype};
    if (!out.find_type() || !in.find_type()) return MPI_ERR_TYPE;
    const int n = static_cast<int>(group->outgoing.size());
    for (int r = 0; r < n; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const bool sends = out.bytes(r) == group->outgoing[at];
        if (sends && in.bytes(r) == group->incoming[at]) continue;
        return refuse(comm, kName,
                      std::string(sends ? "recvcounts[" : "sendcounts[") + std::to_string(r) +
                          "] is " + std::to_string(sends ? in.bytes(r) : out.bytes(r)) +
                          " bytes, but group " + std::to_string(handle) + " was made for " +
                          std::to_string(sends ? group->incoming[at] : group->outgoing[at]),
                      "call a control function again for other lengths");
    }
    if (group->schedule == MPIX_CC_SIMPLE)
        return MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype, group->data);
    int rank = 0;
    MPI_Comm_rank(group->data, &rank);
    code = MPI_Sendrecv(out.at(rank), out.counts[rank], sendtype, rank, kData, in.at(rank),
                        in.counts[rank], recvtype, rank, kData, group->data, MPI_STATUS_IGNORE);
    for (const OwnPhase& phase : group->own) {
        if (code != MPI_SUCCESS) break;
        code = run_phase(phase, out, in, group->data);
    }
    return code;
}

int MPIX_Alltoallv_close_group(MPIX_Cc* group) {
    return close(group, kOperation);
}

int MPIX_Alltoallv_get_phases(MPIX_Cc handle, int* phases, int* schedule) {
    constexpr const char* kName = "Alltoallv_get_phases";
    int code = MPI_SUCCESS;
    const auto* group =
        static_cast<AlltoallvGroup*>(find(handle, kOperation, kName, MPI_COMM_NULL, code));
    if (group == nullptr) return code;
    if (phases != nullptr) *phases = group->phases;
    if (schedule != nullptr) *schedule = group->schedule;
    return MPI_SUCCESS;
}
