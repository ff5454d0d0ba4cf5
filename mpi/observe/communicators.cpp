// See communicators.hpp.
#include "mpi/observe/communicators.hpp"

#include <algorithm>
#include <string>

namespace poe::observe {
namespace {

constexpr ContextId kWorld = kFirstMpiContext;
constexpr ContextId kFirstMade = kFirstMpiContext + 1;

std::uint64_t sum_of(std::uint64_t start, const std::vector<TaskId>& tasks) noexcept {
    std::uint64_t sum = start;
    for (const TaskId task : tasks) sum = mixed(sum ^ static_cast<std::uint64_t>(task + 2));
    return sum;
}

}  // namespace

Communicators::Communicators(const ForeignLibrary& library, TaskId world_task, ObservedArray* raw)
    : library_(library), world_task_(world_task), known_(raw), last_handle_(library.comm_null) {
    find(library_.comm_world);
}

Communicator* Communicators::find_other(Word handle) {
    if (handle == library_.comm_null || handle == 0) return nullptr;
    auto* known = known_.find(handle);
    Communicator* const communicator = known != nullptr ? known->get() : add(handle, 0);
    last_handle_ = handle;
    last_ = communicator;
    return communicator;
}

void Communicators::made(Word handle, const Communicator* parent) {
    if (handle == library_.comm_null || handle == 0) return;
    freed(handle);
    // The two sides of a new intercommunicator have different parents.
    const bool shared = parent != nullptr && (parent->inter || !library_.is_inter(handle));
    add(handle, shared ? parent->context : 0);
}

const Communicator* Communicators::renamed(Word handle) {
    auto* const known = known_.find(handle);
    if (known == nullptr) return nullptr;
    (*known)->name = library_.comm_name(handle);
    return known->get();
}

void Communicators::freed(Word handle) {
    auto* known = known_.find(handle);
    if (known == nullptr) return;
    kept_.push_back(std::move(*known));
    known_.remove(handle);
    last_handle_ = library_.comm_null;
    last_ = nullptr;
}

Communicator* Communicators::add(Word handle, ContextId parent) {
    auto communicator = std::make_unique<Communicator>();
    communicator->handle = handle;
    communicator->name = library_.comm_name(handle);
    communicator->inter = library_.is_inter(handle);
    std::vector<int> own = library_.world_ranks(handle, false);
    if (world_task_ >= 0)
        for (int& rank : own) rank = rank == 0 ? world_task_ : -1;
    communicator->own_rank = library_.rank(handle);
    communicator->members = communicator->own_members = own.size();
    std::uint64_t sum = sum_of(parent, own);
    if (communicator->inter) {
        communicator->own_tasks = own;
        communicator->tasks = library_.world_ranks(handle, true);
        communicator->members = communicator->tasks.size();
        // Both sides compute the same number.
        const auto first = std::min(own, communicator->tasks);
        sum = sum_of(sum_of(parent, first), std::max(own, communicator->tasks));
    } else {
        bool same = world_task_ < 0;
        for (std::size_t rank = 0; rank < own.size(); ++rank)
            same = same && own[rank] == static_cast<TaskId>(rank);
        if (!same) communicator->tasks = std::move(own);
    }
    if (handle == library_.comm_world && world_task_ < 0) {
        communicator->context = kWorld;
    } else {
        communicator->context = next_context(sum);
    }
    Communicator* const added = communicator.get();
    known_.add(handle, std::move(communicator));
    return added;
}

// The next number for things with this sum.
ContextId Communicators::next_context(std::uint64_t sum) {
    const std::uint64_t generation = generations_[sum]++;
    constexpr std::uint64_t kNumbers = ~kInternalContexts - kFirstMade;
    return kFirstMade + static_cast<ContextId>(mixed(sum + generation * 0x9e3779b9u) % kNumbers);
}

Communicator* Communicators::derived(const Communicator& parent, const char* kind) {
    auto made = std::make_unique<Communicator>();
    made->name =
        std::string(kind) + " of " +
        (parent.name.empty() ? "communicator " + std::to_string(parent.context - kFirstMpiContext)
                             : parent.name);
    made->inter = parent.inter;
    made->own_rank = parent.own_rank;
    made->members = parent.members;
    made->own_members = parent.own_members;
    made->tasks = parent.tasks;
    std::uint64_t sum = parent.context;
    for (const char* letter = kind; *letter != '\0'; ++letter)
        sum = mixed(sum ^ static_cast<std::uint64_t>(*letter));
    made->context = next_context(sum);
    kept_.push_back(std::move(made));
    return kept_.back().get();
}

}  // namespace poe::observe
