#include "mpi/datatype/datatype.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "base/check.hpp"

namespace poe::mpi {

TypeReference::TypeReference(Datatype& type) noexcept : type_(&type) {
    type.hold();
}

TypeReference::TypeReference(const TypeReference& other) noexcept : type_(other.type_) {
    if (type_ != nullptr) type_->hold();
}

TypeReference::~TypeReference() {
    if (type_ != nullptr) type_->release();
}

Datatype::Datatype(TypeMap map, Contents contents)
    : extent_(map.extent()),
      lower_bound_(map.lower_bound()),
      map_(std::move(map)),
      contents_(std::move(contents)) {}

Datatype::Datatype(TypeMap map, Contents contents, Predefined which)
    : Datatype(std::move(map), std::move(contents)) {
    predefined_ = true;
    integer_handle_ = which.code;
    name_ = which.name;
    commit();
}

void Datatype::hold() noexcept {
    if (!predefined_) references_.fetch_add(1, std::memory_order_relaxed);
}

void Datatype::release() noexcept {
    if (predefined_) return;
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void Datatype::commit() {
    if (committed_) return;
    data_ = erase_types(map_.data);
    committed_ = true;
}

namespace {

// Memory of deleted datatypes. A block is one datatype long; the link to the next one lies after the
// words that live() reads.
struct FreeBlock {
    std::uint64_t cleared[2];
    FreeBlock* next;
};

struct FreeList {
    std::mutex mutex;
    FreeBlock* first = nullptr;
};

// Never destroyed: datatypes may be released until the process ends.
FreeList& free_list() {
    alignas(FreeList) static std::byte memory[sizeof(FreeList)];
    static FreeList* list = new (memory) FreeList;
    return *list;
}

}  // namespace

void* Datatype::operator new(std::size_t bytes) {
    POE_CHECK(bytes == sizeof(Datatype), bytes);
    FreeList& list = free_list();
    const std::lock_guard lock(list.mutex);
    if (list.first == nullptr) return ::operator new(bytes);
    return std::exchange(list.first, list.first->next);
}

void Datatype::operator delete(void* memory) noexcept {
    FreeList& list = free_list();
    const std::lock_guard lock(list.mutex);
    list.first = new (memory) FreeBlock{{0, 0}, list.first};
}

namespace {

constexpr std::uintptr_t kFirstPredefined = 0x200;
constexpr std::size_t kPredefinedCodes = 0x100;
using PredefinedTable = std::array<Datatype*, kPredefinedCodes>;

const PredefinedTable& predefined_table() {
    static const PredefinedTable table = [] {
        PredefinedTable made{};
        for (const PredefinedType& type : predefined_types()) {
            const int code = static_cast<int>(type.code);
            made[type.code - kFirstPredefined] =
                new Datatype(basic_type_map(type), Contents{}, {code, type.name});
        }
        return made;
    }();
    return table;
}

}  // namespace

Datatype* find_predefined_datatype(std::uintptr_t handle) noexcept {
    const std::uintptr_t index = handle - kFirstPredefined;
    return index < kPredefinedCodes ? predefined_table()[index] : nullptr;
}

Datatype& predefined_datatype(int code) noexcept {
    Datatype* type = find_predefined_datatype(static_cast<std::uintptr_t>(code));
    POE_CHECK(type != nullptr, code);
    return *type;
}

}  // namespace poe::mpi
