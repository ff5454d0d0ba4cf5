#include "mpi/datatype/queries.hpp"

#include <algorithm>

namespace poe::mpi {

MPI_Datatype handle_of(Datatype& type) noexcept {
    if (type.code() == 0) return handle_of<MPI_Datatype>(static_cast<Object&>(type));
    return reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(type.code()));
}

Datatype* find_datatype(MPI_Datatype handle) noexcept {
    if (is_predefined(handle)) return find_predefined_datatype(value_of(handle));
    return find<Datatype>(handle);
}

MPI_Datatype operand_type(MPI_Datatype handle) noexcept {
    const Datatype* type = find_datatype(handle);
    if (type == nullptr || type->named_code() == 0) return handle;
    return reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(type->named_code()));
}

ErrorReport type_free(Datatype& type) {
    if (type.predefined()) {
        return {kErrType, "datatype", "a predefined datatype cannot be freed"};
    }
    type.release();
    return {};
}

ErrorReport type_set_name(Datatype& type, const char* name) {
    if (name == nullptr) return {kErrArg, "type_name", "the name is a null pointer"};
    type.set_name(name);
    return {};
}

namespace {

ErrorReport check_form(Form form, const Contents& contents) {
    if (form == Form::kLarge || contents.large_counts.empty()) return {};
    return {kErrType, "datatype",
            "the datatype was made with large counts; call the function whose name ends in _c"};
}

template <typename Entry>
std::int64_t entries_of(const std::vector<Entry>& list) {
    return static_cast<std::int64_t>(list.size());
}

// Checks that an array of the caller can take `needed` entries.
ErrorReport check_room(std::int64_t needed, std::int64_t most, bool null,
                       std::string_view most_name, std::string_view array_name) {
    if (most < needed) {
        return {kErrArg, most_name,
                joined("there is room for ", most, " entries, but the datatype has ", needed)};
    }
    if (needed != 0 && null) return {kErrArg, array_name, "the array is a null pointer"};
    return {};
}

}  // namespace

ErrorReport type_get_envelope(Form form, const Datatype& type, Envelope& envelope) {
    const Contents& contents = type.contents();
    if (ErrorReport error = check_form(form, contents)) return error;
    envelope = {entries_of(contents.integers), entries_of(contents.addresses),
                entries_of(contents.large_counts), entries_of(contents.types), contents.combiner};
    return {};
}

ErrorReport type_get_contents(Form form, const Datatype& type, const ContentsArrays& arrays) {
    const Contents& contents = type.contents();
    if (contents.combiner == Combiner::kNamed) {
        return {kErrType, "datatype", "a named predefined datatype has no contents"};
    }
    if (ErrorReport error = check_form(form, contents)) return error;
    if (ErrorReport error =
            check_room(entries_of(contents.integers), arrays.max_integers,
                       arrays.integers == nullptr, "max_integers", "array_of_integers")) {
        return error;
    }
    if (ErrorReport error =
            check_room(entries_of(contents.addresses), arrays.max_addresses,
                       arrays.addresses == nullptr, "max_addresses", "array_of_addresses")) {
        return error;
    }
    if (ErrorReport error = check_room(entries_of(contents.large_counts), arrays.max_large_counts,
                                       arrays.large_counts == nullptr, "max_large_counts",
                                       "array_of_large_counts")) {
        return error;
    }
    if (ErrorReport error =
            check_room(entries_of(contents.types), arrays.max_datatypes,
                       arrays.datatypes == nullptr, "max_datatypes", "array_of_datatypes")) {
        return error;
    }
    std::transform(contents.integers.begin(), contents.integers.end(), arrays.integers,
                   [](std::int64_t value) { return static_cast<int>(value); });
    std::copy(contents.addresses.begin(), contents.addresses.end(), arrays.addresses);
    std::copy(contents.large_counts.begin(), contents.large_counts.end(), arrays.large_counts);
    for (std::size_t i = 0; i < contents.types.size(); ++i) {
        contents.types[i]->hold();
        arrays.datatypes[i] = handle_of(*contents.types[i]);
    }
    return {};
}

std::int64_t get_count(const Datatype& type, std::int64_t bytes) {
    if (type.size() == 0) return bytes == 0 ? 0 : kUndefined;
    return bytes % type.size() == 0 ? bytes / type.size() : kUndefined;
}

namespace {

// The basic elements in the first `left` bytes of a node. On return `left` is the number of bytes
// after the last whole one.
std::int64_t elements_in(const Node& node, Bytes& left) {
    if (left >= node.size) {
        left -= node.size;
        return node.elements;
    }
    switch (node.kind) {
        case Node::Kind::kLoop: {
            const Bytes copies = left / node.child->size;
            left -= copies * node.child->size;
            const std::int64_t last = elements_in(*node.child, left);
            return static_cast<std::int64_t>(copies) * node.child->elements + last;
        }
        case Node::Kind::kSequence: {
            const std::size_t i = node.find(left);
            left -= node.start[i];
            return node.first_element[i] + elements_in(*node.children[i], left);
        }
        case Node::Kind::kRun:
        case Node::Kind::kBlocks:
            break;
    }
    const Bytes elements = left / node.unit.bytes;
    left -= elements * node.unit.bytes;
    return static_cast<std::int64_t>(elements);
}

// The bytes of the first `elements` basic elements of a node, which has at least as many.
Bytes bytes_in(const Node& node, std::int64_t elements) {
    if (elements == node.elements) return node.size;
    switch (node.kind) {
        case Node::Kind::kLoop: {
            const std::int64_t copies = elements / node.child->elements;
            return static_cast<Bytes>(copies) * node.child->size +
                   bytes_in(*node.child, elements - copies * node.child->elements);
        }
        case Node::Kind::kSequence: {
            const auto after =
                std::upper_bound(node.first_element.begin(), node.first_element.end(), elements);
            const auto i = static_cast<std::size_t>(after - node.first_element.begin()) - 1;
            return node.start[i] + bytes_in(*node.children[i], elements - node.first_element[i]);
        }
        case Node::Kind::kRun:
        case Node::Kind::kBlocks:
            break;
    }
    return static_cast<Bytes>(elements) * node.unit.bytes;
}

// The signature of the whole elements in the first `bytes` bytes of a node.
Signature signature_in(const Node& node, Bytes bytes) {
    bytes = std::min(bytes, node.size);
    switch (node.kind) {
        case Node::Kind::kLoop: {
            const Bytes copies = bytes / node.child->size;
            const Signature whole = copies == 0 ? Signature()
                                                : signature_in(*node.child, node.child->size)
                                                      .times(static_cast<std::int64_t>(copies));
            return whole.then(signature_in(*node.child, bytes - copies * node.child->size));
        }
        case Node::Kind::kSequence: {
            Signature result;
            for (std::size_t i = 0; i < node.children.size() && node.start[i] < bytes; ++i) {
                result = result.then(signature_in(*node.children[i], bytes - node.start[i]));
            }
            return result;
        }
        case Node::Kind::kRun:
        case Node::Kind::kBlocks:
            break;
    }
    return Signature::of(node.unit.basic).times(static_cast<std::int64_t>(bytes / node.unit.bytes));
}

}  // namespace

std::int64_t get_elements(const Datatype& type, std::int64_t bytes) {
    if (type.size() == 0) return bytes == 0 ? 0 : kUndefined;
    const std::int64_t copies = bytes / type.size();
    auto left = static_cast<Bytes>(bytes % type.size());
    const std::int64_t last = elements_in(*type.map().data.node, left);
    return left == 0 ? copies * type.map().elements + last : kUndefined;
}

ErrorReport bytes_of_elements(const Datatype& type, std::int64_t elements, std::int64_t& bytes) {
    if (elements < 0) {
        return {kErrCount, "count",
                joined("the number of elements is ", elements, "; it must not be negative")};
    }
    bytes = 0;
    if (type.size() == 0 || elements == 0) return {};
    const std::int64_t copies = elements / type.map().elements;
    const Bytes last = bytes_in(*type.map().data.node, elements - copies * type.map().elements);
    if (__builtin_mul_overflow(copies, type.size(), &bytes) ||
        __builtin_add_overflow(bytes, static_cast<std::int64_t>(last), &bytes)) {
        return {kErrValueTooLarge, "count",
                joined(elements, " elements are more than a 64-bit number of bytes")};
    }
    return {};
}

Signature signature_of(const Datatype& type, std::int64_t count) {
    return type.map().signature.times(count);
}

Signature signature_of_prefix(const Datatype& type, std::int64_t bytes) {
    if (type.size() == 0) return {};
    const std::int64_t copies = bytes / type.size();
    return signature_of(type, copies)
        .then(signature_in(*type.map().data.node, static_cast<Bytes>(bytes % type.size())));
}

namespace {

bool is_packed(const Datatype& type) {
    const Node* node = type.map().data.node.get();
    return node != nullptr && node->uniform && node->unit.basic == code::kPacked;
}

}  // namespace

bool signatures_match(const Datatype& a, std::int64_t na, const Datatype& b, std::int64_t nb) {
    if (&a == &b && na == nb) return true;
    if (is_packed(a) || is_packed(b)) return na * a.size() == nb * b.size();
    return signature_of(a, na) == signature_of(b, nb);
}

}  // namespace poe::mpi
