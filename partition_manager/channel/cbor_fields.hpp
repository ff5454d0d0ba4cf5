// Converts structs to and from CBOR by the lists of their fields: a struct is an array of its
// fields in the order of its list. Writing never fails; reading throws if a value does not fit.
// Include it only where messages are encoded or decoded, because it compiles slowly.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "partition_manager/channel/cbor_values.hpp"
#include "partition_manager/channel/message_fields.hpp"

namespace poe::pm::cbor {

template <class T>
inline constexpr bool is_duration = false;
template <class Count, class Unit>
inline constexpr bool is_duration<std::chrono::duration<Count, Unit>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_byte_array = false;
template <std::size_t N>
inline constexpr bool is_byte_array<std::array<std::uint8_t, N>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... Structs>
inline constexpr bool is_variant<std::variant<Structs...>> = true;

// ---- writing

template <class T>
void add(Value& list, const T& value);

struct Writer {
    template <class T, class... Limit>
    Writer& operator()(const T& value, const Limit&...) {
        add(list, value);
        return *this;
    }
    template <class T, std::size_t N>
    void some(const std::array<T, N>& elements, std::uint32_t count) {
        Value& inner = add_list(list);
        for (std::uint32_t i = 0; i < count; ++i) add(inner, elements[i]);
    }
    template <std::size_t N>
    void trimmed(const std::array<std::uint8_t, N>& bytes) {
        std::size_t used = N;
        while (used > 0 && bytes[used - 1] == 0) --used;
        add_bytes(list, bytes.data(), used);
    }
    Value& list;
};

template <class T>
void add(Value& list, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        add_bool(list, value);
    } else if constexpr (std::is_enum_v<T>) {
        add_signed(list, static_cast<int>(value));
    } else if constexpr (std::is_unsigned_v<T>) {
        add_unsigned(list, value);
    } else if constexpr (std::is_integral_v<T>) {
        add_signed(list, value);
    } else if constexpr (is_duration<T>) {
        add_signed(list, value.count());
    } else if constexpr (std::is_same_v<T, std::string> || is_byte_array<T>) {
        // Strings of users are bytes, not UTF-8, so they are sent as CBOR byte strings.
        add_bytes(list, value.data(), value.size());
    } else if constexpr (is_optional<T>) {
        value ? add(list, *value) : add_null(list);
    } else if constexpr (is_pair<T>) {
        Value& pair = add_list(list);
        add(pair, value.first);
        add(pair, value.second);
    } else if constexpr (is_vector<T>) {
        Value& inner = add_list(list);
        for (const auto& each : value) add(inner, each);
    } else if constexpr (is_variant<T>) {
        Value& pair = add_list(list);
        add_unsigned(pair, value.index());
        std::visit([&](const auto& m) { add(pair, m); }, value);
    } else {
        Writer writer{add_list(list)};
        fields(writer, const_cast<T&>(value));  // a writer does not modify it
    }
}

// ---- reading; throws if a value does not fit

template <class T, class... Limit>
void read(const Value& source, T& value, const Limit&... limit);

struct Reader {
    template <class T, class... Limit>
    Reader& operator()(T& value, const Limit&... limit) {
        read(element(list, next++), value, limit...);
        return *this;
    }
    template <class T, std::size_t N>
    void some(std::array<T, N>& elements, std::uint32_t& count) {
        const Value& inner = element(list, next++);
        const std::size_t size = list_size(inner);
        require(size <= N, "list");
        count = static_cast<std::uint32_t>(size);
        for (std::uint32_t i = 0; i < count; ++i) read(element(inner, i), elements[i]);
    }
    template <std::size_t N>
    void trimmed(std::array<std::uint8_t, N>& bytes) {
        const std::string_view from = to_bytes(element(list, next++));
        require(from.size() <= N, "bytes");
        bytes = {};
        std::copy(from.begin(), from.end(), bytes.begin());
    }
    const Value& list;
    std::size_t next = 0;
};

template <class Number>
Number number(const Value& source, Number least = std::numeric_limits<Number>::min(),
              Number most = std::numeric_limits<Number>::max()) {
    if constexpr (std::is_unsigned_v<Number>)
        return static_cast<Number>(to_unsigned(source, most));
    else
        return static_cast<Number>(to_signed(source, least, most));
}

template <class Variant, std::size_t... Index>
void read_one_of(std::size_t which, const Value& source, Variant& message,
                 std::index_sequence<Index...>) {
    const auto read_one = [&]<std::size_t I>() {
        if (which != I) return false;
        read(source, message.template emplace<I>());
        return true;
    };
    require((read_one.template operator()<Index>() || ...), "message");
}

template <class T, class... Limit>
void read(const Value& source, T& value, const Limit&... limit) {
    if constexpr (std::is_same_v<T, bool>) {
        value = to_bool(source);
    } else if constexpr (std::is_integral_v<T>) {
        if constexpr (sizeof...(limit) == 0)
            value = number<T>(source);
        else
            value = number<T>(source, 0, static_cast<T>(limit)...);
    } else if constexpr (std::is_enum_v<T>) {
        static_assert(sizeof...(limit) == 1, "an enumeration needs its last value");
        value = static_cast<T>(number<int>(source, 0, static_cast<int>(limit)...));
    } else if constexpr (is_duration<T>) {
        // Without another limit: a time that can be converted to every unit and added to every
        // clock.
        if constexpr (sizeof...(limit) == 0)
            read(source, value, T(std::chrono::years(100)));
        else
            value = T(number<std::int64_t>(source, 0, limit.count()...));
    } else if constexpr (std::is_same_v<T, std::string>) {
        value = to_bytes(source);
    } else if constexpr (is_byte_array<T>) {
        const std::string_view bytes = to_bytes(source);
        require(bytes.size() == value.size(), "bytes");
        std::copy(bytes.begin(), bytes.end(), value.begin());
    } else if constexpr (is_optional<T>) {
        if (!is_null(source)) read(source, value.emplace(), limit...);
    } else if constexpr (is_pair<T>) {
        read(element(source, 0), value.first);
        read(element(source, 1), value.second);
    } else if constexpr (is_vector<T>) {
        value.resize(list_size(source));
        for (std::size_t i = 0; i < value.size(); ++i) read(element(source, i), value[i]);
    } else if constexpr (is_variant<T>) {
        read_one_of(number<std::size_t>(element(source, 0)), element(source, 1), value,
                    std::make_index_sequence<std::variant_size_v<T>>{});
    } else {
        list_size(source);  // throws if it is not a list
        Reader reader{source};
        fields(reader, value);
        if constexpr (has_check<T>) check(value);
    }
}

}  // namespace poe::pm::cbor

namespace poe::pm {

// A variant is encoded as the number of the alternative, then the struct.
template <class T>
std::string cbor_of(const T& value) {
    cbor::Tree tree;
    cbor::add(tree.to_fill(), value);
    return tree.cbor();
}

// Throws a std::exception if the bytes are not such a value.
template <class T>
T from_cbor(std::string_view bytes) {
    const cbor::Tree tree(bytes);
    T value;
    cbor::read(tree.value(), value);
    return value;
}

}  // namespace poe::pm
