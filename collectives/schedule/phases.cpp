// The division of messages into phases; see phases.hpp.
#include "collectives/schedule/phases.hpp"

#include <algorithm>
#include <array>

namespace poe::collectives {
namespace {

std::uint32_t distance(std::uint32_t n, const PhasedMessage& message) noexcept {
    return (message.to + n - message.from) % n;
}

// A phase that is being filled.
class PhaseBuilder {
  public:
    explicit PhaseBuilder(std::uint32_t n) : sends_(n), receives_(n) {}

    // Adds a message if its ends have no other one in this phase. Returns true if it was added.
    bool add(const PhasedMessage& message) {
        if (sends_[message.from] || receives_[message.to]) return false;
        sends_[message.from] = receives_[message.to] = true;
        phase_.push_back(message);
        return true;
    }
    Phase take() && { return std::move(phase_); }

  private:
    std::vector<bool> sends_;
    std::vector<bool> receives_;
    Phase phase_;
};

// What both methods share. `prefer(message, longest)` is true for the messages that are considered
// first; the others follow in the order of their lengths.
template <typename Prefer>
std::vector<Phase> divide(std::uint32_t n, std::vector<PhasedMessage> left, Bytes threshold,
                          const Prefer& prefer) {
    std::stable_sort(left.begin(), left.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    std::vector<Phase> phases;
    while (!left.empty()) {
        if (left.front().bytes < threshold) {
            phases.push_back(std::move(left));
            break;
        }
        PhaseBuilder phase(n);
        const PhasedMessage longest = left.front();
        std::erase_if(left,
                      [&](const auto& each) { return prefer(each, longest) && phase.add(each); });
        std::erase_if(left, [&](const auto& each) { return phase.add(each); });
        phases.push_back(std::move(phase).take());
    }
    return phases;
}

}  // namespace

std::vector<PhasedMessage> messages_between(const Shape& shape) {
    std::vector<PhasedMessage> messages;
    for (std::uint32_t from = 0; from < shape.n; ++from) {
        for (std::uint32_t to = 0; to < shape.n; ++to) {
            const Bytes bytes = shape.between(from, to);
            if (from != to && bytes > 0) messages.push_back({from, to, bytes});
        }
    }
    return messages;
}

std::vector<Phase> greedy_phases(std::uint32_t n, std::vector<PhasedMessage> messages,
                                 Bytes threshold) {
    return divide(n, std::move(messages), threshold,
                  [](const PhasedMessage&, const PhasedMessage&) { return false; });
}

std::vector<Phase> all_to_all_phases(std::uint32_t n, std::vector<PhasedMessage> messages,
                                     Bytes threshold) {
    return divide(n, std::move(messages), threshold,
                  [n](const PhasedMessage& message, const PhasedMessage& longest) {
                      return distance(n, message) == distance(n, longest);
                  });
}

Bytes bytes_in_order(std::uint32_t n, const std::vector<Phase>& phases) {
    Bytes sum = 0;
    for (const Phase& phase : phases) {
        std::vector<Bytes> out(n);
        std::vector<Bytes> in(n);
        Bytes most = 0;
        for (const PhasedMessage& message : phase) {
            most = std::max(
                {most, out[message.from] += message.bytes, in[message.to] += message.bytes});
        }
        sum += most;
    }
    return sum;
}

const char* name_of(PhaseMethod method) noexcept {
    constexpr std::array<const char*, 5> kNames{"simple", "greedy", "all-to-all", "automatic",
                                                "combined"};
    return kNames[static_cast<std::size_t>(method)];
}

PhaseDecision decide_phases(std::uint32_t n, const std::vector<PhasedMessage>& messages,
                            PhaseMethod wanted) {
    PhaseDecision decision;
    std::vector<std::uint32_t> senders(std::size_t{n} + 1);
    for (const PhasedMessage& each : messages) senders[each.to] += each.bytes > kLongBlock ? 1 : 0;
    decision.long_senders = *std::max_element(senders.begin(), senders.end());
    if (wanted == PhaseMethod::kAutomatic && decision.long_senders < kMostLongSenders)
        wanted = PhaseMethod::kSimple;
    if (wanted == PhaseMethod::kSimple || wanted == PhaseMethod::kCombined) return decision;
    decision.method = wanted;
    if (wanted != PhaseMethod::kAllToAll) decision.phases = greedy_phases(n, messages, kShortBlock);
    if (wanted == PhaseMethod::kGreedy) return decision;
    std::vector<Phase> all = all_to_all_phases(n, messages, kShortBlock);
    const bool greedy = wanted == PhaseMethod::kAutomatic &&
                        bytes_in_order(n, decision.phases) < bytes_in_order(n, all);
    decision.method = greedy ? PhaseMethod::kGreedy : PhaseMethod::kAllToAll;
    if (!greedy) decision.phases = std::move(all);
    return decision;
}

}  // namespace poe::collectives
