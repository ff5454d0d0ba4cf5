// Control messages as CBOR: each struct is an array of its fields, in the order of message_fields.hpp,
// after a number that says which message it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

std::string encode(const Message& message);

// Takes any bytes whatever. Empty if they are not a message, or if a field has a value that it cannot
// have (message_fields.hpp).
std::optional<Message> decode(std::string_view cbor);

}  // namespace poe::pm
