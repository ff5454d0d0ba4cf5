#include "mpi/datatype/datatype.hpp"

#include <array>

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

namespace {

// Releases datatypes, each of which may be the last reference to another one, and so on. A program
// can make chains of any length, so this is a loop: the inner calls leave the work to the outer
// one.
void release_all(std::vector<TypeReference> types) {
    thread_local std::vector<TypeReference>* outer = nullptr;
    if (outer != nullptr) {
        for (TypeReference& type : types) outer->push_back(std::move(type));
        return;
    }
    outer = &types;
    while (!types.empty()) {
        const TypeReference last = std::move(types.back());
        types.pop_back();
    }
    outer = nullptr;
}

}  // namespace

void Datatype::define(TypeMap map, Contents contents) {
    extent_ = map.extent();
    lower_bound_ = map.lower_bound();
    map_ = std::move(map);
    contents_ = std::move(contents);
}

void Datatype::make_predefined(std::string_view name, int represented) {
    predefined_ = true;
    represented_ = represented;
    name_ = name;
    commit();
}

void Datatype::reset() {
    committed_ = false;
    data_ = {};
    map_ = {};
    name_.clear();
    std::vector<TypeReference> types = std::move(contents_.types);
    contents_ = {};
    release_all(std::move(types));
}

void Datatype::hold() noexcept {
    if (!predefined_) add_reference(*this);
}

void Datatype::release() noexcept {
    if (!predefined_) datatype_pool().release(*this);
}

void Datatype::commit() {
    if (committed_) return;
    data_ = erase_types(map_.data);
    committed_ = true;
}

Pool<Datatype>& datatype_pool() {
    static auto* pool = new Pool<Datatype>(Kind::kDatatype);
    return *pool;
}

namespace {

constexpr std::uintptr_t kFirstPredefined = 0x200;
constexpr std::size_t kPredefinedCodes = 0x100;
using PredefinedTable = std::array<Datatype*, kPredefinedCodes>;

const PredefinedTable& predefined_table() {
    static const PredefinedTable table = [] {
        PredefinedTable made{};
        for (const PredefinedType& type : predefined_types()) {
            auto* datatype = new Datatype;
            datatype->integer = static_cast<std::int32_t>(type.code);
            datatype->define(basic_type_map(type), Contents{});
            datatype->make_predefined(type.name);
            made[type.code - kFirstPredefined] = datatype;
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
