// See cbor_values.hpp.
#include "partition_manager/channel/cbor_values.hpp"

#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace poe::pm::cbor {

Tree::Tree() : list_(std::make_unique<Value>(Value::array())) {}

Tree::Tree(std::string_view bytes) : Tree() {
    list_->push_back(Value::from_cbor(bytes.begin(), bytes.end()));
}

Tree::~Tree() = default;

const Value& Tree::value() const {
    return list_->at(0);
}

std::string Tree::cbor() const {
    std::string out;
    Value::to_cbor(value(), out);
    return out;
}

void add_bool(Value& list, bool value) {
    list.push_back(value);
}

void add_signed(Value& list, std::int64_t value) {
    list.push_back(value);
}

void add_unsigned(Value& list, std::uint64_t value) {
    list.push_back(value);
}

void add_bytes(Value& list, const void* bytes, std::size_t size) {
    const auto* begin = static_cast<const std::uint8_t*>(bytes);
    list.push_back(Value::binary(Value::binary_t::container_type(begin, begin + size)));
}

void add_null(Value& list) {
    list.push_back(nullptr);
}

Value& add_list(Value& list) {
    return list.emplace_back(Value::array());
}

bool is_null(const Value& value) {
    return value.is_null();
}

bool to_bool(const Value& value) {
    return value.get<bool>();
}

// The library itself would convert a number that does not fit, without a word.
std::int64_t to_signed(const Value& value, std::int64_t least, std::int64_t most) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most))
            return static_cast<std::int64_t>(number);
    } else if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        if (number >= least && number <= most) return number;
    }
    throw std::out_of_range("number");
}

std::uint64_t to_unsigned(const Value& value, std::uint64_t most) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number <= most) return number;
    }
    throw std::out_of_range("number");
}

std::string_view to_bytes(const Value& value) {
    const auto& bytes = value.get_binary();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t list_size(const Value& value) {
    if (!value.is_array()) throw std::out_of_range("list");
    return value.size();
}

const Value& element(const Value& list, std::size_t index) {
    return list.at(index);
}

}  // namespace poe::pm::cbor
