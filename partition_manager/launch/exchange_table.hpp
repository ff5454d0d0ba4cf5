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
    std::optional<Exchange> add(const Exchange& part);
    // The sum when it has that many parts. Not to be mixed with the other.
    std::optional<Exchange> add_of(const Exchange& part, std::size_t parts);

  private:
    struct Sum {
        Exchange exchange;
        std::size_t parts = 0;
    };
    Sum& put(const Exchange& part);
    std::optional<Exchange> take(const std::string& key);

    std::map<std::string, Sum> sums_;
};

}  // namespace poe::pm
