// Copies of sections that are not contiguous, and the copies that wait for a request.
#include "mpi/fortran/section.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace poe::mpi::fortran {

// The copies of one request.
struct CopiesOfRequests::Kept {
    std::vector<std::unique_ptr<SectionCopy>> copies;
    bool persistent = false;
    bool active = true;
};

namespace {

std::ptrdiff_t extent_of(const Descriptor::Dimension& dimension) noexcept {
    return dimension.upper - dimension.lower + 1;
}

std::ptrdiff_t stride_of(const Descriptor& section, int dimension) noexcept {
    const auto size = static_cast<std::ptrdiff_t>(section.element_size);
    return section.dimensions[dimension].stride * (section.span != 0 ? section.span : size);
}

using Kept = CopiesOfRequests::Kept;

// All copies that wait for a request, by the integer of the request.
class KeptCopies {
  public:
    bool any() const noexcept { return any_.load(std::memory_order_acquire); }

    void add(int request, Kept kept) {
        const std::lock_guard guard(lock_);
        requests_[request] = std::make_shared<Kept>(std::move(kept));
        any_.store(true, std::memory_order_release);
    }
    // The copies of a request that is still there; null if it has none.
    std::shared_ptr<Kept> find(int request) {
        const std::lock_guard guard(lock_);
        const auto found = requests_.find(request);
        return found != requests_.end() ? found->second : nullptr;
    }
    // A new request has the integer of an old one that C code has completed.
    void forget(int request) {
        const std::lock_guard guard(lock_);
        requests_.erase(request);
        note();
    }
    void start(int request) {
        const std::lock_guard guard(lock_);
        const auto found = requests_.find(request);
        if (found == requests_.end()) return;
        for (auto& copy : found->second->copies) copy->copy_in();
        found->second->active = true;
    }
    // `kept` are the copies of the request `request`, whose integer another thread's new request
    // may have by now.
    void complete(int request, Kept& kept) {
        const std::lock_guard guard(lock_);
        if (!kept.active) return;
        for (auto& copy : kept.copies) copy->copy_back();
        kept.active = false;
        if (kept.persistent) return;
        const auto found = requests_.find(request);
        if (found != requests_.end() && found->second.get() == &kept) requests_.erase(found);
        note();
    }
    // MPI may use the copies of an active request until the program ends.
    void free(int request) {
        const std::lock_guard guard(lock_);
        const auto found = requests_.find(request);
        if (found == requests_.end()) return;
        if (found->second->active) freed_.push_back(std::move(found->second));
        requests_.erase(found);
        note();
    }

  private:
    void note() noexcept { any_.store(!requests_.empty(), std::memory_order_release); }

    std::atomic<bool> any_{false};
    std::mutex lock_;
    std::map<int, std::shared_ptr<Kept>> requests_;
    std::vector<std::shared_ptr<Kept>> freed_;
};

// Never destroyed, because MPI_Finalize may run after the destructors.
KeptCopies& kept_copies() {
    static auto* const copies = new KeptCopies;
    return *copies;
}

}  // namespace

bool is_contiguous(const Descriptor& descriptor) noexcept {
    auto expected = static_cast<std::ptrdiff_t>(descriptor.element_size);
    bool dense = true;
    for (int i = 0; i < descriptor.rank; ++i) {
        const std::ptrdiff_t extent = extent_of(descriptor.dimensions[i]);
        if (extent <= 0) return true;
        if (extent > 1 && stride_of(descriptor, i) != expected) dense = false;
        expected *= extent;
    }
    return dense;
}

SectionCopy::SectionCopy(const Descriptor& section, bool written) : written_(written) {
    // The caller's descriptor ends after the last dimension.
    std::memcpy(static_cast<void*>(&section_), &section,
                offsetof(Descriptor, dimensions) +
                    static_cast<std::size_t>(section.rank) * sizeof(Descriptor::Dimension));
    std::size_t size = section.element_size;
    for (int i = 0; i < section.rank; ++i)
        size *= static_cast<std::size_t>(extent_of(section.dimensions[i]));
    data_ = std::make_unique_for_overwrite<char[]>(size);
}

// Calls move(element of the section, element of the copy) for each element, in the order of
// Fortran.
template <typename Move>
void SectionCopy::each_row(Move&& move) noexcept {
    std::ptrdiff_t position[15] = {};
    char* element = static_cast<char*>(section_.base);
    char* copy = data_.get();
    while (true) {
        move(element, copy);
        copy += section_.element_size;
        int i = 0;
        while (i < section_.rank) {
            element += stride_of(section_, i);
            if (++position[i] < extent_of(section_.dimensions[i])) break;
            element -= position[i] * stride_of(section_, i);
            position[i++] = 0;
        }
        if (i == section_.rank) return;
    }
}

void SectionCopy::copy_in() noexcept {
    each_row([size = section_.element_size](const char* element, char* copy) {
        std::memcpy(copy, element, size);
    });
}

void SectionCopy::copy_back() noexcept {
    if (!written_) return;
    each_row([size = section_.element_size](char* element, const char* copy) {
        std::memcpy(element, copy, size);
    });
}

Section::Section(const Descriptor* descriptor, bool written)
    : address_(as_buffer(descriptor->base)) {
    if (is_contiguous(*descriptor)) [[likely]]
        return;
    copy_ = std::make_unique<SectionCopy>(*descriptor, written);
    copy_->copy_in();
    address_ = copy_->data();
}

int Whole::refuse() {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

void keep_until_complete(int code, const HandleOut<MPI_Request>& request, bool persistent,
                         std::initializer_list<Section*> sections) {
    // Without a request the operation is complete.
    if (code != MPI_SUCCESS || request.handle() == MPI_REQUEST_NULL) return;
    Kept kept{{}, persistent, !persistent};
    for (Section* section : sections)
        if (auto copy = section->release()) kept.copies.push_back(std::move(copy));
    if (!kept.copies.empty()) {
        kept_copies().add(to_fortran(request.handle()), std::move(kept));
    } else if (kept_copies().any()) {
        kept_copies().forget(to_fortran(request.handle()));
    }
}

void copies_started(const int* requests, int count) {
    if (!kept_copies().any()) return;
    for (int i = 0; i < count; ++i) kept_copies().start(requests[i]);
}

CopiesOfRequests::CopiesOfRequests(const int* requests, int count) {
    if (!kept_copies().any()) return;
    for (int i = 0; i < count; ++i)
        found_.push_back({requests[i], kept_copies().find(requests[i])});
}

CopiesOfRequests::~CopiesOfRequests() = default;

void CopiesOfRequests::complete(std::size_t i) {
    if (found_[i].kept != nullptr) kept_copies().complete(found_[i].request, *found_[i].kept);
}

void CopiesOfRequests::completed(int count) {
    if (found_.empty()) return;
    for (int i = 0; i < count; ++i) complete(static_cast<std::size_t>(i));
}

void CopiesOfRequests::completed(const int* indices, int count) {
    if (found_.empty()) return;
    for (int i = 0; i < count; ++i) complete(static_cast<std::size_t>(indices[i]));
}

void copies_freed(const int* request) {
    if (kept_copies().any()) kept_copies().free(*request);
}

}  // namespace poe::mpi::fortran
