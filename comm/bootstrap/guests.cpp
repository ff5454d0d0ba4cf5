// See guests.hpp.
#include "comm/bootstrap/guests.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.hpp"
#include "base/parse.hpp"
#include "comm/matching/message_layer.hpp"

namespace poe::comm {
namespace {

constexpr std::size_t kFields = 7;

// Splits at blanks. Empty if there are not exactly kFields fields.
std::optional<std::array<std::string, kFields>> fields_of(std::string_view text) {
    std::array<std::string, kFields> fields;
    for (std::size_t i = 0; i < kFields; ++i) {
        const auto end = text.find(' ');
        if ((end == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
        fields[i] = text.substr(0, end);
        if (fields[i].empty()) return std::nullopt;
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return fields;
}

std::string hexadecimal(std::uint64_t number) {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
    return text;
}

}  // namespace

std::string name_of(const TaskCard& card) {
    return "task " + std::to_string(card.task) + " of job " + card.job;
}

std::string text_of(const TaskCard& card) {
    return card.job + " " + std::to_string(card.task) + " " + card.address.text() + " " +
           std::to_string(card.port) + " " + card.node + " " + std::to_string(card.buffer_mem) +
           " " + std::to_string(card.eager_limit);
}

std::optional<TaskCard> parse_card(std::string_view text) {
    const auto fields = fields_of(text);
    if (!fields) return std::nullopt;
    const auto task = parse_number<TaskId>((*fields)[1]);
    const auto address = NodeAddress::parse((*fields)[2]);
    const auto port = parse_number<std::uint16_t>((*fields)[3]);
    const auto buffer_mem = parse_number<Bytes>((*fields)[5]);
    const auto eager_limit = parse_number<Bytes>((*fields)[6]);
    if (!task || *task < 0 || !address || !port || *port == 0 || !buffer_mem || !eager_limit ||
        *eager_limit + kMessageCost > *buffer_mem / 4)
        return std::nullopt;
    return TaskCard{(*fields)[0], *task, *address, *port, (*fields)[4], *buffer_mem, *eager_limit};
}

LinkSecret make_link_secret() {
    LinkSecret secret;
    static_assert(sizeof(Nonce) == kJobKeyBytes);
    secret.key = fresh_nonce();
    const Nonce other = fresh_nonce();
    std::memcpy(&secret.number, other.data(), sizeof secret.number);
    if (secret.number == 0) secret.number = 1;
    return secret;
}

Admission Guests::admit(std::uint32_t own_tasks, const TaskCard& own, const LinkSecret& secret,
                        std::span<const TaskCard> cards) {
    Admission made;
    TcpLink& link = made.link;
    link.identity = {secret.key, "link-" + hexadecimal(secret.number), -1,
                     static_cast<std::uint32_t>(cards.size()), secret.number};
    for (const TaskCard& card : cards) {
        if (card.is_same_task(own)) link.identity.me = static_cast<TaskId>(link.tasks.size());
        TaskId number = card.task;
        if (card.job != own.job) {
            const auto next = static_cast<TaskId>(own_tasks + cards_.size());
            const auto [known, is_new] = numbers_.try_emplace({card.job, card.task}, next);
            number = known->second;
            if (is_new) {
                cards_.push_back(card);
                // Both ends take the smaller one of each, so that no message is too long for its
                // receiver.
                made.token_capacities.push_back(std::min(card.buffer_mem, own.buffer_mem));
                made.eager_limits.push_back(std::min(card.eager_limit, own.eager_limit));
            }
        }
        link.tasks.push_back(number);
        link.endpoints.push_back({card.address, card.port, name_of(card) + " on " + card.node});
    }
    POE_CHECK(link.identity.me >= 0, own.task);
    made.tasks = link.tasks;
    return made;
}

}  // namespace poe::comm
