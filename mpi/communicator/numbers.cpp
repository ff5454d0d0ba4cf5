// Numbers of communicators; see numbers.hpp.
#include "mpi/communicator/numbers.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "comm/bootstrap/process_runtime.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

using collectives::kFirstSharedNumber;
using collectives::kGroupNumbers;

constexpr int kBlock = 4096;
constexpr int kBlocks = (kGroupNumbers - kFirstSharedNumber) / kBlock;
// The part of the spare numbers that a duplicate gets for itself and its own duplicates.
constexpr int kShare = 8;

int first_of_block(int block) noexcept {
    return kFirstSharedNumber + block * kBlock;
}

// The blocks that are proposed at this moment.
std::set<int>& proposed() {
    static auto* const blocks = new std::set<int>;
    return *blocks;
}

bool in_block(int number, int block) noexcept {
    return number >= first_of_block(block) && number < first_of_block(block) + kBlock;
}

bool is_free(int block) {
    if (proposed().contains(block)) return false;
    return comm_pool().find_if([block](const Comm& comm) {
        return comm.group &&
               (in_block(comm.group->gid, block) || in_block(comm.group_number(), block));
    }) == nullptr;
}

// A block that is kept from others while this object exists.
class BlockProposal {
  public:
    explicit BlockProposal(int block) : block_(block), free_(is_free(block)) {
        if (free_) proposed().insert(block_);
    }
    ~BlockProposal() {
        if (free_) proposed().erase(block_);
    }
    BlockProposal(const BlockProposal&) = delete;
    BlockProposal& operator=(const BlockProposal&) = delete;
    bool is_kept() const noexcept { return free_; }

  private:
    int block_;
    bool free_;
};

int random_block() {
    static std::mt19937 generator{std::random_device{}()};
    return std::uniform_int_distribution<int>(0, kBlocks - 1)(generator);
}

void use_block(NewComm& made, NumberRange range) noexcept {
    made.number = range.first + (made.local_first ? 0 : 1);
    made.remote_number = range.first + (made.local_first ? 1 : 0);
    made.spare_numbers = {range.first + 2, range.count - 2};
    made.agreed = true;
}

// Agrees with the other members. `keep` then keeps the block until the communicator has its
// numbers.
Fault agree(comm::Runtime& runtime, NewComm& made, std::optional<BlockProposal>& keep) {
    const Members& first = made.local_first || !made.remote ? *made.local : *made.remote;
    std::vector<TaskId> members(first.tasks().begin(), first.tasks().end());
    int rank = made.local->rank_of(runtime.task());
    if (made.remote != nullptr) {
        const Members& second = made.local_first ? *made.remote : *made.local;
        if (!made.local_first) rank += first.size();
        members.insert(members.end(), second.tasks().begin(), second.tasks().end());
    }
    for (bool all_free = false; !all_free;) {
        Words block{rank == 0 ? random_block() : 0};
        if (Fault fault = bcast_words(runtime, members, rank, 0, made.agreement, block))
            return fault;
        keep.emplace(block.front());
        if (Fault fault =
                all_agree(runtime, members, rank, made.agreement, keep->is_kept(), all_free))
            return fault;
        if (all_free) use_block(made, {first_of_block(block.front()), kBlock});
    }
    return {};
}

}  // namespace

bool spans_jobs(const comm::Runtime& runtime, const Members& members) noexcept {
    return runtime.guests().count() > 0 && std::ranges::any_of(members.tasks(), [&](TaskId task) {
               return runtime.is_guest(task);
           });
}

bool spans_jobs(const comm::Runtime& runtime, const Comm& comm) noexcept {
    return spans_jobs(runtime, *comm.local) ||
           (comm.remote != nullptr && spans_jobs(runtime, *comm.remote));
}

bool take_spare_numbers(Comm& parent, NewComm& made) noexcept {
    NumberRange& spare = parent.spare_numbers;
    const int taken = std::max(2, spare.count / kShare);
    if (spare.count < taken) return false;
    made.local_first = parent.group->gid == parent.group_number();
    use_block(made, {spare.first, taken});
    spare = {spare.first + taken, spare.count - taken};
    return true;
}

Fault fill_in(Comm& comm, const CommBase& parent, NewComm made) {
    comm::Runtime& runtime = comm::the_runtime();
    std::optional<BlockProposal> keep;
    const bool inter = made.remote != nullptr;
    if (made.number == Reservation::kFailed)
        return {MPI_ERR_PROC_ABORTED, "", "another member of the communicator has failed",
                "look for the first error message of the job"};
    if (!made.agreed &&
        (spans_jobs(runtime, *made.local) || (inter && spans_jobs(runtime, *made.remote)))) {
        if (made.agreement.context == 0)
            return {MPI_ERR_INTERN, "",
                    "this communicator of tasks of several jobs has no numbers left for duplicates",
                    "use MPI_Comm_dup, or make duplicates of different communicators"};
        if (Fault fault = agree(runtime, made, keep)) return fault;
    }
    if (made.number < 0 || (inter && made.remote_number < 0))
        return {MPI_ERR_INTERN, "", "the numbers of communicators have run out",
                "make fewer communicators, or duplicate them in turn at different tasks"};
    const int number = inter ? std::min(made.number, made.remote_number) : made.number;
    set_up(comm, made.number, std::move(made.local), std::move(made.remote), context_of(number),
           environment().task, &parent);
    comm.spare_numbers = made.spare_numbers;
    return {};
}

MadeComm make_comm(const CommBase& parent, NewComm made) {
    Comm& comm = comm_pool().make();
    if (Fault fault = fill_in(comm, parent, std::move(made))) {
        comm_pool().release(comm);
        return {nullptr, std::move(fault)};
    }
    return {&comm, {}};
}

MadeComm make_comm(const Comm& parent, NewComm made) {
    if (!made.agreed && made.agreement.context == 0) {
        made.agreement = {making_context(parent, Making::kMembers), kAgreementType};
        made.local_first = made.remote == nullptr || parent.group->gid == parent.group_number();
    }
    return make_comm(static_cast<const CommBase&>(parent), std::move(made));
}

}  // namespace poe::mpi
