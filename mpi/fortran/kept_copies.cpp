#include "mpi/fortran/kept_copies.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace poe::mpi::fortran {

// The copies of one operation.
struct CopiesToComplete::Kept {
    std::vector<std::unique_ptr<SectionCopy>> copies;
    bool persistent = false;
    bool active = true;
};

namespace {

using Kept = CopiesToComplete::Kept;

Owner owner_of(int request) noexcept {
    return {Owner::Kind::kRequest, request};
}

// All copies of operations that have not completed. A request has one operation, a window any
// number for each target.
class KeptCopies {
  public:
    bool any() const noexcept { return any_.load(std::memory_order_acquire); }

    void add(const Owner& owner, Kept kept) {
        const std::lock_guard guard(lock_);
        // A new request may have the integer of an old one that C code has completed.
        if (owner.kind == Owner::Kind::kRequest) operations_.erase(owner);
        if (!kept.copies.empty())
            operations_.emplace(owner, std::make_shared<Kept>(std::move(kept)));
        note();
    }
    // Calls found(owner, copies) for each operation of the owner.
    template <typename Found>
    void find(const Owner& owner, Found&& found) {
        const std::lock_guard guard(lock_);
        Owner last = owner;
        if (owner.target == kEveryTarget) last.target = std::numeric_limits<int>::max();
        const auto end = operations_.upper_bound(last);
        for (auto each = operations_.lower_bound(owner); each != end; ++each)
            found(each->first, each->second);
    }
    void start(int request) {
        const std::lock_guard guard(lock_);
        const auto found = operations_.find(owner_of(request));
        if (found == operations_.end()) return;
        for (auto& copy : found->second->copies) copy->copy_in();
        found->second->active = true;
    }
    // `kept` belongs to an operation of the owner, which may have others by now.
    void complete(const Owner& owner, Kept& kept) {
        const std::lock_guard guard(lock_);
        if (!kept.active) return;
        for (auto& copy : kept.copies) copy->copy_back();
        kept.active = false;
        if (kept.persistent) return;
        const auto end = operations_.upper_bound(owner);
        for (auto each = operations_.lower_bound(owner); each != end; ++each) {
            if (each->second.get() != &kept) continue;
            operations_.erase(each);
            break;
        }
        note();
    }
    // MPI may use the copies of an active request until the program ends.
    void free(int request) {
        const std::lock_guard guard(lock_);
        const auto found = operations_.find(owner_of(request));
        if (found == operations_.end()) return;
        if (found->second->active) freed_.push_back(std::move(found->second));
        operations_.erase(found);
        note();
    }

  private:
    void note() noexcept { any_.store(!operations_.empty(), std::memory_order_release); }

    std::atomic<bool> any_{false};
    std::mutex lock_;
    std::multimap<Owner, std::shared_ptr<Kept>> operations_;
    std::vector<std::shared_ptr<Kept>> freed_;
};

// Never destroyed, because MPI_Finalize may run after the destructors.
KeptCopies& kept_copies() {
    static auto* const copies = new KeptCopies;
    return *copies;
}

void keep(const Owner& owner, Kept kept, std::initializer_list<Section*> sections) {
    for (Section* section : sections)
        if (auto copy = section->release()) kept.copies.push_back(std::move(copy));
    if (!kept.copies.empty() || kept_copies().any()) kept_copies().add(owner, std::move(kept));
}

}  // namespace

void keep_copies(int code, const HandleOut<MPI_Request>& request, bool persistent,
                 std::initializer_list<Section*> sections) {
    // Without a request the operation is complete.
    if (code != MPI_SUCCESS || request.handle() == MPI_REQUEST_NULL) return;
    keep(owner_of(to_fortran(request.handle())), {{}, persistent, !persistent}, sections);
}

void keep_copies(int code, const Owner& owner, std::initializer_list<Section*> sections) {
    if (code == MPI_SUCCESS) keep(owner, {}, sections);
}

void copies_started(const int* requests, int count) {
    if (!kept_copies().any()) return;
    for (int i = 0; i < count; ++i) kept_copies().start(requests[i]);
}

void copies_freed(const int* request) {
    if (kept_copies().any()) kept_copies().free(*request);
}

CopiesToComplete::CopiesToComplete(const int* requests, int count) {
    if (!kept_copies().any()) return;
    for (int i = 0; i < count; ++i) {
        found_.push_back({owner_of(requests[i]), nullptr});
        kept_copies().find(found_.back().owner,
                           [this](const Owner&, const auto& kept) { found_.back().kept = kept; });
    }
}

CopiesToComplete::CopiesToComplete(const Owner& owner) {
    if (!kept_copies().any()) return;
    kept_copies().find(owner, [this](const Owner& each, const auto& kept) {
        found_.push_back({each, kept});
    });
}

CopiesToComplete::~CopiesToComplete() = default;

void* CopiesToComplete::address_of(const Descriptor* buffer) const noexcept {
    for (const Found& found : found_)
        for (const auto& copy : found.kept->copies)
            if (copy->is_of(*buffer)) return copy->data();
    return as_location(buffer);
}

void CopiesToComplete::complete(std::size_t i) {
    if (found_[i].kept != nullptr) kept_copies().complete(found_[i].owner, *found_[i].kept);
}

void CopiesToComplete::completed() {
    completed(static_cast<int>(found_.size()));
}

void CopiesToComplete::completed(int count) {
    if (found_.empty()) return;
    for (int i = 0; i < count; ++i) complete(static_cast<std::size_t>(i));
}

void CopiesToComplete::completed(const int* indices, int count) {
    if (found_.empty()) return;
    for (int i = 0; i < count; ++i) complete(static_cast<std::size_t>(indices[i]));
}

}  // namespace poe::mpi::fortran
