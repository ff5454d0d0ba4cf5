#include "mpi/datatype/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.hpp"
#include "mpi/datatype/copy_kernels.hpp"

namespace poe::mpi {

namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Binary128;
#else
using Binary128 = long double;
#endif

// How a basic type is stored in memory and in external32. The parts of a complex number are numbers
// of their own.
struct Conversion {
    Bytes native = 1;    // bytes per number
    Bytes external = 1;  // bytes per number
    bool sign = false;   // extend the sign if external is shorter
    bool long_double = false;
    Bytes numbers = 1;  // per element
};

bool is_signed(Element element) {
    switch (element) {
        case Element::kInt8:
        case Element::kInt16:
        case Element::kInt32:
        case Element::kInt64:
        case Element::kInt128:
            return true;
        default:
            return false;
    }
}

Conversion conversion_of(std::uint16_t basic) {
    const PredefinedType* type = find_predefined_type(basic);
    POE_CHECK(type != nullptr, basic);
    Conversion how;
    how.native = element_size(type->element);
    how.external = how.native;
    how.sign = is_signed(type->element);
    how.numbers = type->size / how.native;
    if (basic == code::kLong || basic == code::kUnsignedLong) how.external = 4;
    if (basic == code::kWchar) {
        how.external = 2;
        how.sign = false;
    }
    if (type->element == Element::kLongDouble) {
        how.long_double = true;
        how.external = sizeof(Binary128);
    }
    return how;
}

void reverse_copy(std::byte* to, const std::byte* from, Bytes n) {
    if constexpr (std::endian::native == std::endian::big) {
        std::memcpy(to, from, n);
    } else {
        std::reverse_copy(from, from + n, to);
    }
}

// The low bytes of a number of `native` bytes.
const std::byte* low_bytes(const std::byte* number, Bytes native, Bytes n) {
    return std::endian::native == std::endian::little ? number : number + native - n;
}

void number_to_external(const Conversion& how, const std::byte* native, std::byte* external) {
    if (how.long_double) {
        long double value = 0;
        std::memcpy(&value, native, sizeof value);
        const Binary128 wide = value;
        reverse_copy(external, reinterpret_cast<const std::byte*>(&wide), sizeof wide);
        return;
    }
    reverse_copy(external, low_bytes(native, how.native, how.external), how.external);
}

void number_from_external(const Conversion& how, const std::byte* external, std::byte* native) {
    if (how.long_double) {
        Binary128 wide = 0;
        reverse_copy(reinterpret_cast<std::byte*>(&wide), external, sizeof wide);
        const auto value = static_cast<long double>(wide);
        std::memcpy(native, &value, sizeof value);
        return;
    }
    if (how.native != how.external) {
        const bool negative = how.sign && (external[0] & std::byte{0x80}) != std::byte{0};
        std::memset(native, negative ? 0xff : 0, how.native);
    }
    const std::byte* place = low_bytes(native, how.native, how.external);
    reverse_copy(const_cast<std::byte*>(place), external, how.external);
}

// Numbers of the usual sizes, in a loop that the compiler vectorises.
template <typename Word>
void swap_words(const std::byte* from, std::byte* to, Bytes n) {
    for (Bytes i = 0; i < n; ++i) {
        Word word;
        std::memcpy(&word, from + i * sizeof word, sizeof word);
        if constexpr (sizeof word == 2) word = __builtin_bswap16(word);
        if constexpr (sizeof word == 4) word = __builtin_bswap32(word);
        if constexpr (sizeof word == 8) word = __builtin_bswap64(word);
        std::memcpy(to + i * sizeof word, &word, sizeof word);
    }
}

bool swap_numbers(const Conversion& how, const std::byte* from, std::byte* to, Bytes n) {
    if (how.native != how.external || how.long_double || std::endian::native == std::endian::big) {
        return false;
    }
    switch (how.native) {
        case 1:
            std::memcpy(to, from, n);
            return true;
        case 2:
            swap_words<std::uint16_t>(from, to, n);
            return true;
        case 4:
            swap_words<std::uint32_t>(from, to, n);
            return true;
        case 8:
            swap_words<std::uint64_t>(from, to, n);
            return true;
        default:
            return false;
    }
}

// Converts runs between memory and external32.
template <Direction kDirection>
class Converter {
  public:
    explicit Converter(std::byte* external) : external_(external) {}

    void node(const Node& node, Address at) {
        switch (node.kind) {
            case Node::Kind::kRun:
                return run(node.unit, at, node.size);
            case Node::Kind::kLoop:
                for (std::int64_t i = 0; i < node.count; ++i, at = moved(at, node.stride)) {
                    this->node(*node.child, at);
                }
                return;
            case Node::Kind::kBlocks:
                for (std::size_t i = 0; i < node.at.size(); ++i) {
                    run(node.unit, moved(at, node.at[i]), node.end_of(i) - node.start_of(i));
                }
                return;
            case Node::Kind::kSequence:
                for (std::size_t i = 0; i < node.at.size(); ++i) {
                    this->node(*node.children[i], moved(at, node.at[i]));
                }
        }
    }

  private:
    void run(Unit unit, Address at, Bytes length) {
        if (unit.basic != basic_) {
            how_ = conversion_of(unit.basic);
            basic_ = unit.basic;
        }
        const Bytes numbers = length / unit.bytes * how_.numbers;
        auto* memory = reinterpret_cast<std::byte*>(at);
        constexpr bool kPack = kDirection == Direction::kPack;
        if (!swap_numbers(how_, kPack ? memory : external_, kPack ? external_ : memory, numbers)) {
            for (Bytes i = 0; i < numbers; ++i) {
                if constexpr (kPack) {
                    number_to_external(how_, memory + i * how_.native,
                                       external_ + i * how_.external);
                } else {
                    number_from_external(how_, external_ + i * how_.external,
                                         memory + i * how_.native);
                }
            }
        }
        external_ += numbers * how_.external;
    }

    std::byte* external_;
    std::uint16_t basic_ = 0;
    Conversion how_;
};

template <Direction kDirection>
void convert(Address memory, std::int64_t count, const Datatype& type, std::byte* external) {
    const Placed& data = type.map().data;
    if (!data.node) return;
    Converter<kDirection> converter(external);
    for (std::int64_t i = 0; i < count; ++i) {
        converter.node(*data.node, moved(memory, data.at + i * type.extent()));
    }
}

std::int64_t external_size(const Node& node) {
    switch (node.kind) {
        case Node::Kind::kLoop:
            return checked_multiply(node.count, external_size(*node.child));
        case Node::Kind::kSequence: {
            std::int64_t size = 0;
            for (const NodePtr& child : node.children) {
                size = checked_add(size, external_size(*child));
            }
            return size;
        }
        case Node::Kind::kRun:
        case Node::Kind::kBlocks:
            break;
    }
    const Conversion how = conversion_of(node.unit.basic);
    return checked_multiply(node.elements, static_cast<std::int64_t>(how.numbers * how.external));
}

}  // namespace

std::int64_t external32_size(const Datatype& type, std::int64_t count) {
    const Placed& data = type.map().data;
    return data.node ? checked_multiply(count, external_size(*data.node)) : 0;
}

void to_external32(const void* memory, std::int64_t count, const Datatype& type,
                   std::byte* external) {
    convert<Direction::kPack>(reinterpret_cast<Address>(memory), count, type, external);
}

void from_external32(const std::byte* external, void* memory, std::int64_t count,
                     const Datatype& type) {
    convert<Direction::kUnpack>(reinterpret_cast<Address>(memory), count, type,
                                const_cast<std::byte*>(external));
}

}  // namespace poe::mpi
