// See exchange_table.hpp.
#include "partition_manager/launch/exchange_table.hpp"

#include <utility>

namespace poe::pm {

ExchangeTable::Sum& ExchangeTable::put(const KeyExchangePart& part) {
    Sum& sum = sums_[part.key];
    sum.exchange.key = part.key;
    sum.exchange.of = part.of;
    sum.exchange.jobs = part.jobs;
    sum.exchange.nodes += part.nodes;
    sum.exchange.data += part.data;
    ++sum.parts;
    return sum;
}

std::optional<KeyExchangePart> ExchangeTable::take(const std::string& key) {
    const auto found = sums_.find(key);
    KeyExchangePart sum = std::move(found->second.exchange);
    sums_.erase(found);
    return sum;
}

std::optional<KeyExchangePart> ExchangeTable::add(const KeyExchangePart& part) {
    if (put(part).exchange.nodes < part.of) return std::nullopt;
    return take(part.key);
}

std::optional<KeyExchangePart> ExchangeTable::add_of(const KeyExchangePart& part,
                                                     std::size_t parts) {
    if (put(part).parts < parts) return std::nullopt;
    return take(part.key);
}

}  // namespace poe::pm
