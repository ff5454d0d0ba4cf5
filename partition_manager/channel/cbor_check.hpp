// What bytes from the channel may be given to the CBOR library at all. Apart from messages.cpp,
// which knows what each message is made of.
#pragma once

#include <string_view>

namespace poe::pm {

// True when `cbor` is one item made only of what messages are made of: whole numbers, byte strings
// of known length, arrays of known length up to a small depth, true, false, null, and nothing
// behind it. The library would read other things, too, and some of them by recursion without end.
// Pure.
bool is_message_cbor(std::string_view cbor);

}  // namespace poe::pm
