// ExchangeTable: parts that nodes give for a common purpose (PMI barrier, PMIx fence), put
// together. poe completes an exchange when all nodes that take part have given theirs; a daemon
// that relays puts together what comes from those below it, and its own. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

class ExchangeTable {
  public:
    // The sum when it speaks for all nodes that take part, and then begins anew.
    std::optional<KeyExchangePart> add(const KeyExchangePart& part);
    // The sum when it has that many parts. Not to be mixed with the other.
    std::optional<KeyExchangePart> add_of(const KeyExchangePart& part, std::size_t parts);

  private:
    struct Sum {
        KeyExchangePart exchange;
        std::size_t parts = 0;
    };
    Sum& put(const KeyExchangePart& part);
    std::optional<KeyExchangePart> take(const std::string& key);

    std::map<std::string, Sum> sums_;
};

}  // namespace poe::pm
