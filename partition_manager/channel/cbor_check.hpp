// Decides which bytes from the channel may be passed to the CBOR library. Separate from
// messages.hpp, which defines what each message consists of.
#pragma once

#include <string_view>

namespace poe::pm {

// True if `cbor` is a single item with nothing after it, and consists only of what messages
// contain: whole numbers, byte strings of known length, arrays of known length up to a small depth,
// true, false and null. The library would also read other items, some of them by unbounded
// recursion. Pure.
bool is_message_cbor(std::string_view cbor);

}  // namespace poe::pm
