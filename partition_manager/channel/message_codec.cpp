// Converts messages to and from CBOR; see message_codec.hpp.
#include "partition_manager/channel/message_codec.hpp"

#include "partition_manager/channel/cbor_check.hpp"
#include "partition_manager/channel/cbor_fields.hpp"

namespace poe::pm {

std::string encode(const Message& message) {
    return cbor_of(message);
}

std::optional<Message> decode(std::string_view bytes) {
    if (!is_message_cbor(bytes)) return std::nullopt;
    try {
        return from_cbor<Message>(bytes);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace poe::pm
