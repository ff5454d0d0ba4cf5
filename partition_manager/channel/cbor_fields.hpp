// Converts structs to and from CBOR by the lists of their fields: a struct is an array of its
// fields in the order of its list. Writing never fails; reading throws if a value does not fit.
// Include it only where messages are encoded or decoded, because the JSON library is large.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "partition_manager/channel/message_fields.hpp"

namespace poe::pm::cbor {

using Json = nlohmann::json;
using Binary = Json::binary_t;

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
Json written(const T& value);

struct Writer {
    template <class T, class... Limit>
    Writer& operator()(const T& value, const Limit&...) {
        array.push_back(written(value));
        return *this;
    }
    template <class T, std::size_t N>
    void some(const std::array<T, N>& elements, std::uint32_t count) {
        Json list = Json::array();
        for (std::uint32_t i = 0; i < count; ++i) list.push_back(written(elements[i]));
        array.push_back(std::move(list));
    }
    template <std::size_t N>
    void trimmed(const std::array<std::uint8_t, N>& bytes) {
        std::size_t used = N;
        while (used > 0 && bytes[used - 1] == 0) --used;
        array.push_back(
            Json::binary({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used)}));
    }
    Json array = Json::array();
};

template <class T>
Json written(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<int>(value);
    } else if constexpr (is_duration<T>) {
        return value.count();
    } else if constexpr (std::is_same_v<T, std::string>) {
        // Strings of users are bytes, not UTF-8, so they are sent as CBOR byte strings.
        return Json::binary({value.begin(), value.end()});
    } else if constexpr (is_byte_array<T>) {
        return Json::binary({value.begin(), value.end()});
    } else if constexpr (is_optional<T>) {
        return value ? written(*value) : Json();
    } else if constexpr (is_pair<T>) {
        return Json::array({written(value.first), written(value.second)});
    } else if constexpr (is_vector<T>) {
        Json list = Json::array();
        for (const auto& each : value) list.push_back(written(each));
        return list;
    } else if constexpr (is_variant<T>) {
        return Json::array(
            {value.index(), std::visit([](const auto& m) { return written(m); }, value)});
    } else {
        Writer writer;
        fields(writer, const_cast<T&>(value));  // a writer does not modify it
        return std::move(writer.array);
    }
}

// ---- reading; throws if a value does not fit

template <class T, class... Limit>
void read(const Json& json, T& value, const Limit&... limit);

struct Reader {
    template <class T, class... Limit>
    Reader& operator()(T& value, const Limit&... limit) {
        read(array.at(next++), value, limit...);
        return *this;
    }
    template <class T, std::size_t N>
    void some(std::array<T, N>& elements, std::uint32_t& count) {
        const Json& list = array.at(next++);
        require(list.is_array() && list.size() <= N, "list");
        count = static_cast<std::uint32_t>(list.size());
        for (std::uint32_t i = 0; i < count; ++i) read(list[i], elements[i]);
    }
    template <std::size_t N>
    void trimmed(std::array<std::uint8_t, N>& bytes) {
        const Binary& binary = array.at(next++).get_binary();
        require(binary.size() <= N, "bytes");
        bytes = {};
        std::copy(binary.begin(), binary.end(), bytes.begin());
    }
    const Json& array;
    std::size_t next = 0;
};

// Throws if the value does not fit. The library would convert it silently.
template <class Number>
Number number(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.get<std::uint64_t>();
        if (std::in_range<Number>(value)) return static_cast<Number>(value);
    } else if (json.is_number_integer()) {
        const auto value = json.get<std::int64_t>();
        if (std::in_range<Number>(value)) return static_cast<Number>(value);
    }
    throw std::out_of_range("number");
}

template <class Number>
Number number_up_to(const Json& json, Number limit) {
    const auto value = number<Number>(json);
    require(value >= 0 && value <= limit, "number");
    return value;
}

template <class Variant, std::size_t... Index>
void read_one_of(std::size_t which, const Json& json, Variant& message,
                 std::index_sequence<Index...>) {
    const auto read_one = [&]<std::size_t I>() {
        if (which != I) return false;
        read(json, message.template emplace<I>());
        return true;
    };
    require((read_one.template operator()<Index>() || ...), "message");
}

template <class T, class... Limit>
void read(const Json& json, T& value, const Limit&... limit) {
    if constexpr (std::is_same_v<T, bool>) {
        value = json.get<bool>();
    } else if constexpr (std::is_arithmetic_v<T>) {
        if constexpr (sizeof...(limit) == 0)
            value = number<T>(json);
        else
            value = number_up_to<T>(json, limit...);
    } else if constexpr (std::is_enum_v<T>) {
        static_assert(sizeof...(limit) == 1, "an enumeration needs its last value");
        value = static_cast<T>(number_up_to<int>(json, static_cast<int>(limit)...));
    } else if constexpr (is_duration<T>) {
        // Without another limit: a time that can be converted to every unit and added to every
        // clock.
        if constexpr (sizeof...(limit) == 0)
            read(json, value, T(std::chrono::years(100)));
        else
            value = T(number_up_to<std::int64_t>(json, limit.count()...));
    } else if constexpr (std::is_same_v<T, std::string>) {
        const Binary& binary = json.get_binary();
        value.assign(binary.begin(), binary.end());
    } else if constexpr (is_byte_array<T>) {
        const Binary& binary = json.get_binary();
        require(binary.size() == value.size(), "bytes");
        std::copy(binary.begin(), binary.end(), value.begin());
    } else if constexpr (is_optional<T>) {
        if (!json.is_null()) read(json, value.emplace(), limit...);
    } else if constexpr (is_pair<T>) {
        read(json.at(0), value.first);
        read(json.at(1), value.second);
    } else if constexpr (is_vector<T>) {
        require(json.is_array(), "array");
        value.resize(json.size());
        for (std::size_t i = 0; i < value.size(); ++i) read(json[i], value[i]);
    } else if constexpr (is_variant<T>) {
        read_one_of(number<std::size_t>(json.at(0)), json.at(1), value,
                    std::make_index_sequence<std::variant_size_v<T>>{});
    } else {
        require(json.is_array(), "array");
        Reader reader{json};
        fields(reader, value);
        if constexpr (has_check<T>) check(value);
    }
}

}  // namespace poe::pm::cbor

namespace poe::pm {

// A variant is encoded as the number of the alternative, then the struct.
template <class T>
std::string cbor_of(const T& value) {
    std::string out;
    cbor::Json::to_cbor(cbor::written(value), out);
    return out;
}

// Throws a std::exception if the bytes are not such a value.
template <class T>
T from_cbor(std::string_view bytes) {
    T value;
    cbor::read(cbor::Json::from_cbor(bytes.begin(), bytes.end()), value);
    return value;
}

}  // namespace poe::pm
