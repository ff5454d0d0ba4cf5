// Control messages as CBOR: the number of the message type, then the struct as an array of its
// fields in the order of message_fields.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

std::string encode(const Message& message);

// Accepts any bytes. Returns nothing if they are not a message, or if a field has an invalid value
// (message_fields.hpp).
std::optional<Message> decode(std::string_view cbor);

}  // namespace poe::pm
