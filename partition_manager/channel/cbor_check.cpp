// See cbor_check.hpp.
#include "partition_manager/channel/cbor_check.hpp"

#include <cstdint>
#include <vector>

namespace poe::pm {

bool is_message_cbor(std::string_view cbor) {
    constexpr std::size_t kMaxDepth = 10;  // a need of a wait of a WatchedTask
    std::vector<std::uint64_t> left{1};    // number of items still expected, by depth
    std::size_t at = 0;
    while (!left.empty()) {
        if (left.back() == 0) {
            left.pop_back();
            continue;
        }
        --left.back();
        if (at >= cbor.size()) return false;
        const auto head = static_cast<unsigned char>(cbor[at++]);
        const unsigned kind = head >> 5;
        std::uint64_t value = head & 31;
        if (value >= 24) {
            if (kind == 7 || value > 27) return false;
            const std::size_t bytes = std::size_t{1} << (value - 24);
            if (cbor.size() - at < bytes) return false;
            value = 0;
            for (std::size_t i = 0; i < bytes; ++i)
                value = value << 8 | static_cast<unsigned char>(cbor[at++]);
        }
        switch (kind) {
            case 0:  // numbers
            case 1:
                break;
            case 2:  // byte string
                if (value > cbor.size() - at) return false;
                at += value;
                break;
            case 4:  // array; each item takes at least one byte
                if (left.size() > kMaxDepth || value > cbor.size() - at) return false;
                left.push_back(value);
                break;
            case 7:
                if (value < 20 || value > 22) return false;
                break;
            default:
                return false;
        }
    }
    return at == cbor.size();
}

}  // namespace poe::pm
