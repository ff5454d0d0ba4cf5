// ExchangeTable: merges the parts that nodes contribute to a key exchange (PMI barrier, PMIx
// fence). poe completes an exchange when all participating nodes have contributed. A daemon that
// relays merges the parts of the daemons below it and its own. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

class ExchangeTable {
  public:
    // Adds a part. If the sum now covers all participating nodes, returns it and forgets it.
    std::optional<KeyExchangePart> add(const KeyExchangePart& part);
    // Adds a part. If the sum now has `parts` parts, returns it and forgets it. Do not use add()
    // and add_of() for the same exchange.
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
