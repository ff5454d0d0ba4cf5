// See linking.hpp.
#include "mpi/communicator/linking.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace poe::mpi {
namespace {

using comm::LinkSecret;
using comm::TaskCard;
using Cards = std::vector<TaskCard>;

// The context of the messages by which the members of both groups agree on numbers; that of the
// other contexts of ports.cpp. Their type comes from the number of the link.
constexpr ContextId kAgreementContext = 0x8ffffff3u;
constexpr std::size_t kSecretWords = sizeof(LinkSecret) / sizeof(std::int32_t);

// A text as its length and its bytes, which are filled up with zeros.
void append(Words& words, std::string_view text) {
    words.push_back(static_cast<std::int32_t>(text.size()));
    const std::size_t at = words.size();
    words.resize(at + (text.size() + sizeof words[0] - 1) / sizeof words[0]);
    if (!text.empty()) std::memcpy(words.data() + at, text.data(), text.size());
}

void append(Words& words, const LinkSecret& secret) {
    const std::size_t at = words.size();
    words.resize(at + kSecretWords);
    std::memcpy(words.data() + at, &secret, sizeof secret);
}

LinkSecret secret_at(const Words& words, std::size_t at) noexcept {
    std::array<std::byte, sizeof(LinkSecret)> bytes;
    std::memcpy(bytes.data(), words.data() + at, bytes.size());
    return std::bit_cast<LinkSecret>(bytes);
}

// Reads all cards from `at` on. Empty if one of them is no card.
Cards cards_from(const Words& words, std::size_t at) {
    Cards cards;
    while (at < words.size()) {
        const auto length = static_cast<std::size_t>(words[at++]);
        const std::size_t count = (length + sizeof words[0] - 1) / sizeof words[0];
        if (count > words.size() - at) return {};
        auto card = comm::parse_card({reinterpret_cast<const char*>(words.data() + at), length});
        if (!card) return {};
        cards.push_back(std::move(*card));
        at += count;
    }
    return cards;
}

// The cards of all members of the group, by rank; empty if a member has none. `fault`: why the own
// card cannot be made.
Fault collect_cards(comm::Runtime& runtime, const Comm& local, Words& cards, Fault& fault) {
    Words own;
    try {
        append(own, comm::text_of(runtime.own_card()));
    } catch (const Error& error) {
        fault = {
            MPI_ERR_OTHER, "",
            std::string("this task cannot be reached by tasks of another job: ") + error.what(),
            ""};
        append(own, "");
    }
    return collect_words(runtime, local, own, cards);
}

bool is_before(const TaskCard& one, const TaskCard& other) {
    return std::tie(one.job, one.task) < std::tie(other.job, other.task);
}

// What the leaders exchange: the rank of the leader, the secret that it proposes, the cards of its
// group.
constexpr std::size_t kCardsOfferHead = 1 + kSecretWords;
// What a leader sends to its members: the class of its fault, 1 if its group is the first one, the
// secret, the cards of the other group.
constexpr std::size_t kCardsAnswerHead = 2 + kSecretWords;

Fault other_group_failed() {
    return {MPI_ERR_OTHER, "", "a task of the other group cannot be reached",
            "look for the message of that task"};
}

Fault exchange_cards(const Words& own_cards, int leader, const RemoteLeader& remote,
                     Words& answer) {
    const Cards own = cards_from(own_cards, 0);
    const LinkSecret secret = comm::make_link_secret();
    Words given;
    // If a member of this group has failed, the other leader gets no words.
    if (!own.empty()) {
        given.push_back(leader);
        append(given, secret);
        given.insert(given.end(), own_cards.begin(), own_cards.end());
    }
    Words taken;
    if (Fault fault = remote.swap(given, taken)) return fault;
    if (own.empty())
        return {MPI_ERR_OTHER, "", "a member of the group cannot be reached",
                "look for the message of that task"};
    if (taken.size() <= kCardsOfferHead) return other_group_failed();
    const Cards other = cards_from(taken, kCardsOfferHead);
    const auto other_leader = static_cast<std::size_t>(taken.front());
    if (other_leader >= other.size()) return other_group_failed();
    const bool first = is_before(own[static_cast<std::size_t>(leader)], other[other_leader]);
    answer = {MPI_SUCCESS, first ? 1 : 0};
    append(answer, first ? secret : secret_at(taken, 1));
    answer.insert(answer.end(), taken.begin() + kCardsOfferHead, taken.end());
    return {};
}

Fault check_overlap(const Cards& local, const Cards& remote) {
    for (const TaskCard& card : remote) {
        if (std::ranges::any_of(local, [&](const TaskCard& own) { return own.is_same_task(card); }))
            return {MPI_ERR_COMM, "comm", comm::name_of(card) + " is a member of both groups",
                    "connect groups without common members"};
    }
    return {};
}

}  // namespace

MadeComm link_groups(comm::Runtime& runtime, Comm& local, int leader, const RemoteLeader& remote,
                     NewComm made) {
    Words own_cards;
    Fault fault;
    if (Fault lost = collect_cards(runtime, local, own_cards, fault)) return {nullptr, lost};
    Words answer;
    if (local.rank == leader) {
        Fault failed = exchange_cards(own_cards, leader, remote, answer);
        if (failed) answer = {failed.code};
        if (!fault) fault = std::move(failed);
    }
    const Route route{making_context(local, Making::kMembers), 1};
    const Fault lost =
        bcast_words(runtime, local.local->tasks(), local.rank, leader, route, answer);
    if (fault) return {nullptr, std::move(fault)};
    if (lost) return {nullptr, lost};
    if (answer.front() != MPI_SUCCESS)
        return {nullptr,
                {answer.front(), "",
                 "the leader, rank " + std::to_string(leader) + ", has reported an error",
                 "look for the message of that task"}};
    Cards all = cards_from(own_cards, 0);
    Cards others = cards_from(answer, kCardsAnswerHead);
    if (Fault overlap = check_overlap(all, others)) return {nullptr, std::move(overlap)};
    const bool first = answer[1] != 0;
    const LinkSecret secret = secret_at(answer, 2);
    const std::size_t before = first ? all.size() : 0;
    const std::size_t remote_size = others.size();
    if (!first) std::swap(all, others);
    all.insert(all.end(), std::make_move_iterator(others.begin()),
               std::make_move_iterator(others.end()));
    const std::vector<TaskId> tasks = runtime.admit(secret, all);
    const auto at = tasks.begin() + static_cast<std::ptrdiff_t>(before);
    made.remote = std::make_shared<const Members>(
        std::vector<TaskId>(at, at + static_cast<std::ptrdiff_t>(remote_size)),
        local.local->session());
    made.agreement = {kAgreementContext, static_cast<std::int32_t>(secret.number & 0x7fffffffu)};
    made.local_first = first;
    return make_comm(static_cast<const CommBase&>(local), std::move(made));
}

}  // namespace poe::mpi
