// Descriptions, and their form in messages; see description.hpp.
#include "mpi/check/description.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/check/place_words.hpp"
#include "mpi/datatype/queries.hpp"
#include "mpi/object/operation.hpp"

namespace poe::mpi::check {
namespace {

Datatype* datatype_of(MPI_Datatype handle) noexcept {
    return is_predefined(handle) ? find_predefined_datatype(value_of(handle))
                                 : find<Datatype>(handle);
}

std::uint32_t basic_of(const Datatype& type) noexcept {
    const Node* node = type.map().data.node.get();
    return node != nullptr && node->uniform ? node->unit.basic : 0;
}

std::uint64_t hash_of(const Signature& signature) noexcept {
    return signature == Signature() ? 0 : signature.hash();
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

std::string_view name_of(MPI_Op op) noexcept {
    static const std::pair<MPI_Op, std::string_view> kNames[] = {
        {MPI_OP_NULL, "MPI_OP_NULL"}, {MPI_SUM, "MPI_SUM"},         {MPI_MIN, "MPI_MIN"},
        {MPI_MAX, "MPI_MAX"},         {MPI_PROD, "MPI_PROD"},       {MPI_BAND, "MPI_BAND"},
        {MPI_BOR, "MPI_BOR"},         {MPI_BXOR, "MPI_BXOR"},       {MPI_LAND, "MPI_LAND"},
        {MPI_LOR, "MPI_LOR"},         {MPI_LXOR, "MPI_LXOR"},       {MPI_MINLOC, "MPI_MINLOC"},
        {MPI_MAXLOC, "MPI_MAXLOC"},   {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"}};
    for (const auto& [each, name] : kNames)
        if (each == op) return name;
    return "no operation";
}

}  // namespace

Part part_of(const Datatype& type, std::int64_t count) {
    Part part;
    if (count <= 0 || type.size() == 0) return part;
    part.hash = hash_of(signature_of(type, count));
    part.bytes = type.size() * count;
    part.elements = type.map().elements * count;
    part.basic = basic_of(type);
    return part;
}

Part part_of(MPI_Datatype type, std::int64_t count) {
    const Datatype* found = datatype_of(type);
    return found == nullptr ? Part{} : part_of(*found, count);
}

Part prefix_of(const Datatype& type, std::int64_t bytes) {
    Part part;
    if (bytes <= 0 || type.size() == 0) return part;
    part.hash = hash_of(signature_of_prefix(type, bytes));
    part.bytes = bytes;
    part.elements = get_elements(type, bytes);
    part.basic = basic_of(type);
    return part;
}

std::string words_of_part(const Part& part) {
    if (part.bytes == 0) return "nothing";
    const Datatype* basic = find_predefined_datatype(part.basic);
    if (basic == nullptr) return std::to_string(part.bytes) + " bytes of several types";
    return std::to_string(part.elements) + " " + std::string(basic->name());
}

std::vector<Part> Flow::parts_for(int rank) const {
    std::vector<Part> found;
    switch (kind) {
        case Kind::kNothing:
            break;
        case Kind::kSame:
            found.push_back(parts.front());
            break;
        case Kind::kEach:
            if (static_cast<std::size_t>(rank) < parts.size())
                found.push_back(parts[static_cast<std::size_t>(rank)]);
            break;
        case Kind::kNeighbors:
            for (std::size_t k = 0; k < peers.size(); ++k)
                if (peers[k] == rank) found.push_back(parts[k]);
            break;
    }
    return found;
}

void Description::agree(std::string_view name, std::string value, int code, std::uint64_t hash,
                        bool within_group) {
    agreed.push_back({std::string(name), std::move(value), hash, code, within_group ? 1 : 0});
}

void Description::agree_list(std::string_view name, std::span<const std::int64_t> values, int code,
                             bool within_group) {
    constexpr std::size_t kShown = 8;
    std::string text = "(";
    std::uint64_t hash = values.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i < kShown) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
        hash = mix(hash, static_cast<std::uint64_t>(values[i]));
    }
    agree(name, text + (values.size() > kShown ? ",...)" : ")"), code, hash, within_group);
}

void Description::agree_list(std::string_view name, const int* values, int count, int code) {
    if (values == nullptr || count < 0) return;
    const std::vector<std::int64_t> wide(values, values + count);
    agree_list(name, wide, code);
}

// A function of the program has another address in each task, but the same place in its file. The
// subroutines of Fortran take turns in a table of the library, so they cannot be compared.
void Description::agree_operation(MPI_Op op) {
    const auto* made = find<Operation>(op);
    if (made == nullptr) return agree("op", std::string(name_of(op)), MPI_ERR_OP);
    const void* const code = made->function != nullptr
                                 ? reinterpret_cast<const void*>(made->function)
                                 : reinterpret_cast<const void*>(made->large_function);
    Place its_place = place_of_code(code);
    std::string text =
        made->commutative ? "a commutative operation" : "an operation that does not commute";
    if (std::string_view(its_place.object).starts_with("libmpifort_abi."))
        return agree("op", text + " of the program", MPI_ERR_OP);
    its_place.offset += 1;  // words_of_place() looks before a return address
    agree("op", text + " with the function at " + words_of_place(its_place), MPI_ERR_OP);
}

void Description::fail(const Fault& its_fault) {
    if (fault != MPI_SUCCESS || !its_fault) return;
    fault = its_fault.code;
    reason =
        (its_fault.argument[0] == '\0' ? ""
                                       : "argument " + std::string(its_fault.argument) + ": ") +
        its_fault.what;
}

Description describe(Function function, const void* site) {
    Description made;
    made.place = place_of(function, site);
    made.function = function_name(function);
    if (made.function.ends_with("_c")) made.function.resize(made.function.size() - 2);
    return made;
}

namespace {

class Writer {
  public:
    template <typename T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), from, from + sizeof value);
    }
    void put(const std::string& text) { put_all(text.data(), text.size()); }
    template <typename T>
    void put(const std::vector<T>& values) {
        put_all(values.data(), values.size());
    }
    std::vector<std::byte> bytes;

  private:
    template <typename T>
    void put_all(const T* values, std::size_t count) {
        put(static_cast<std::uint64_t>(count));
        const auto* from = reinterpret_cast<const std::byte*>(values);
        bytes.insert(bytes.end(), from, from + count * sizeof(T));
    }
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
    template <typename T>
    void get(T& value) {
        if (take(sizeof value)) std::memcpy(&value, taken_, sizeof value);
    }
    void get(std::string& text) { get_all(text); }
    template <typename T>
    void get(std::vector<T>& values) {
        get_all(values);
    }
    bool good() const noexcept { return good_; }

  private:
    bool take(std::size_t bytes) noexcept {
        good_ = good_ && bytes <= rest_.size();
        if (!good_) return false;
        taken_ = rest_.data();
        rest_ = rest_.subspan(bytes);
        return true;
    }
    template <typename Values>
    void get_all(Values& values) {
        std::uint64_t count = 0;
        get(count);
        constexpr std::size_t kSize = sizeof(typename Values::value_type);
        if (count > rest_.size() / kSize) good_ = false;
        if (!take(count * kSize) || count == 0) return;
        values.resize(count);
        std::memcpy(values.data(), taken_, count * kSize);
    }

    std::span<const std::byte> rest_;
    const std::byte* taken_ = nullptr;
    bool good_ = true;
};

// The fields of a description, for both directions.
template <typename Stream, typename Each>
void visit_flow(Stream&& stream, Each& flow) {
    stream(flow.kind);
    stream(flow.parts);
    stream(flow.peers);
}

template <typename Stream, typename Each>
void visit_fields(Stream&& stream, Each& description) {
    stream(description.place);
    stream(description.function);
    stream(description.fault);
    stream(description.reason);
    stream(description.root);
    visit_flow(stream, description.sent);
    visit_flow(stream, description.received);
    stream(description.has_group);
    stream(description.group);
}

template <typename Stream, typename Each>
void visit_agreed(Stream&& stream, Each& agreed) {
    stream(agreed.name);
    stream(agreed.value);
    stream(agreed.hash);
    stream(agreed.code);
    stream(agreed.within_group);
}

}  // namespace

std::vector<std::byte> encode(const Description& description) {
    Writer writer;
    const auto put = [&](const auto& field) { writer.put(field); };
    visit_fields(put, description);
    writer.put(static_cast<std::uint64_t>(description.agreed.size()));
    for (const Agreed& each : description.agreed) visit_agreed(put, each);
    return std::move(writer.bytes);
}

bool decode(std::span<const std::byte> bytes, Description& description) {
    Reader reader(bytes);
    const auto get = [&](auto& field) { reader.get(field); };
    visit_fields(get, description);
    std::uint64_t count = 0;
    reader.get(count);
    for (std::uint64_t i = 0; i < count && reader.good(); ++i)
        visit_agreed(get, description.agreed.emplace_back());
    const auto valid = [](const Flow& flow) {
        return (flow.kind != Flow::Kind::kSame || !flow.parts.empty()) &&
               (flow.kind != Flow::Kind::kNeighbors || flow.parts.size() == flow.peers.size());
    };
    return reader.good() && valid(description.sent) && valid(description.received);
}

}  // namespace poe::mpi::check
