// The agreement of tasks on a list; see list_agreement.hpp.
#include "collectives/engine/list_agreement.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "base/task_ranges.hpp"

namespace poe::collectives {
namespace {

constexpr auto kFlow = comm::FlowClass::kCollective;

enum class Kind : std::uint32_t { kList, kClash, kDone, kFailed, kRefused };

}  // namespace

// Short, so that a send never waits for a receive.
struct ListAgreement::Message {
    Kind kind = Kind::kList;
    std::uint32_t number = 0;    // of the sender's call
    std::uint32_t answered = 0;  // kClash, kFailed: of the receiver's call; 0: none was read
    ListInWords list;            // kList, kClash: the sender's
    ListDifference difference;   // kFailed, kRefused
    std::uint64_t calls = 0;     // kDone: the hash of the calls that the sender has read
};

struct ListAgreement::Outgoing {
    Message message;
    comm::SendRequest request;
};

struct ListAgreement::Partner {
    TaskId task = -1;
    bool listed = false;     // its LIST is known
    bool same = false;       // and is the same as that of this task
    std::uint64_t done = 0;  // the hash in its DONE; 0: none has come
    std::uint32_t call = 0;  // the number of its call, of which the LIST is known
    bool reading = false;    // `incoming` is being received
    Message incoming;
    comm::ReceiveRequest request;
};

ListInWords in_words(const std::vector<TaskId>& list) {
    ListInWords words;
    Hash64 hash;
    for (const TaskId task : list) hash.add(std::uint64_t{static_cast<std::uint32_t>(task)});
    words.hash = hash.value();
    std::string text = "of " + tasks_in_words(list);
    constexpr std::size_t kRoom = sizeof words.text - 1;
    if (text.size() > kRoom) text = text.substr(0, kRoom - 3) + "...";
    text.copy(words.text, kRoom);
    return words;
}

std::string ListDifference::words(const std::string& call) const {
    const std::string head = "task " + std::to_string(one) + " calls " + call;
    if (refused) return head + " with wrong arguments, which its own message explains";
    return head + " " + one_says.text + ", task " + std::to_string(other) + " " + other_says.text;
}

ListAgreement::ListAgreement(comm::MessageLayer& messages, const ListRoute& route,
                             ListHistory& history, TaskId self, const std::vector<TaskId>& list)
    : messages_(messages),
      route_(route),
      history_(history),
      number_(++history.calls),
      self_(self),
      own_(in_words(list)) {
    for (const TaskId task : list)
        if (task != self) partners_.emplace_back().task = task;
}

ListAgreement::~ListAgreement() = default;

void ListAgreement::start() {
    send_to_all(own_list());
    ended_ = partners_.empty();
}

ListAgreement::Message ListAgreement::own_list() const {
    Message list;
    list.kind = Kind::kList;
    list.list = own_;
    return list;
}

void ListAgreement::refuse() {
    Message refused;
    refused.kind = Kind::kRefused;
    refused.difference.one = self_;
    refused.difference.one_call = number_;
    refused.difference.refused = true;
    remember(refused.difference);
    send_to_all(refused);
    ended_ = true;
}

bool ListAgreement::advance() {
    for (Partner& partner : partners_) {
        while (!ended_ && !over_for(partner) && read(partner)) take(partner, partner.incoming);
        if (!ended_ && !over_for(partner) && !partner.reading && messages_.lost(partner.task)) {
            lost_ = partner.task;
            ended_ = true;
        }
        // A message that has begun to arrive needs its memory.
        if (ended_ && partner.reading && partner.request.outcome == comm::Outcome::kPending) {
            messages_.end_if_hopeless(partner.request);
            if (partner.request.outcome == comm::Outcome::kPending) return false;
        }
    }
    if (!ended_) return false;
    for (Outgoing& each : outgoing_) {
        messages_.end_if_hopeless(each.request);
        if (each.request.outcome == comm::Outcome::kPending) return false;
    }
    return true;
}

void ListAgreement::finish() {
    if (advance()) return;
    messages_.wait_until([this] { return advance(); }, [this] { return awaited(); });
}

Awaited ListAgreement::awaited() const {
    Awaited awaited;
    awaited.kind = Awaited::Kind::kMessage;
    awaited.type = route_.type;
    awaited.context = route_.context;
    for (const Partner& partner : partners_) {
        if (over_for(partner)) continue;
        awaited.peer = partner.task;
        break;
    }
    return awaited;
}

void ListAgreement::send(const Partner& to, Message message) {
    message.number = number_;
    if (message.kind == Kind::kClash || message.kind == Kind::kFailed)
        message.answered = to.listed ? to.call : 0;
    Outgoing& out = outgoing_.emplace_back();
    out.message = message;
    out.request = comm::SendRequest({&out.message, sizeof out.message}, to.task, route_.type,
                                    route_.context, kFlow);
    messages_.start(out.request);
}

void ListAgreement::send_to_all(Message message) {
    for (const Partner& partner : partners_) send(partner, message);
}

// Returns true if `incoming` is the next message. Receives only what has arrived, because a message
// that comes after the end belongs to the next call.
bool ListAgreement::read(Partner& from) {
    const comm::MatchKey key{route_.context, from.task, route_.type};
    if (!from.reading) {
        if (messages_.probe(key) == nullptr) return false;
        from.request.reset({&from.incoming, sizeof from.incoming}, key);
        messages_.start(from.request);
        from.reading = true;
    }
    if (from.request.outcome == comm::Outcome::kPending) messages_.end_if_lost(from.request);
    if (from.request.outcome == comm::Outcome::kPending) return false;
    from.reading = false;
    if (from.request.outcome == comm::Outcome::kDone) return true;
    lost_ = from.task;
    ended_ = true;
    return false;
}

void ListAgreement::take(Partner& from, const Message& message) {
    switch (message.kind) {
        case Kind::kList:
            forget(from);
            from.listed = true;
            from.call = message.number;
            from.same = message.list == own_;
            if (from.same) {
                ++equal_;
                tell_done();
            } else {
                Message clash;
                clash.kind = Kind::kClash;
                clash.list = own_;
                send(from, clash);
            }
            break;
        case Kind::kClash:
            if (message.answered != number_) break;
            fail({from.task, self_, message.number, number_, false, message.list, own_});
            break;
        case Kind::kDone:
            if (!from.same) break;
            from.done = message.calls;
            ended_ = std::all_of(partners_.begin(), partners_.end(),
                                 [this](const Partner& each) { return over_for(each); });
            break;
        case Kind::kFailed:
            if (!is_old(message.difference) &&
                (message.answered == number_ || (message.answered == 0 && from.same))) {
                fail(message.difference);
                break;
            }
            forget(from);
            // The partner's next call has not read this call's LIST.
            if (message.answered == number_) send(from, own_list());
            break;
        case Kind::kRefused:  // others may have told it before
            if (!is_old(message.difference)) fail(message.difference);
            break;
    }
}

// Forgets the LIST of a partner whose call has ended.
void ListAgreement::forget(Partner& from) {
    if (from.same) --equal_;
    from.listed = false;
    from.same = false;
    from.done = 0;
}

// Names the calls whose lists are equal. If one of them has failed, a later one takes its place.
void ListAgreement::tell_done() {
    if (equal_ != partners_.size()) return;
    calls_ = 0;
    const auto add = [this](TaskId task, std::uint32_t call) {
        // Independent of the order; splitmix64 mixes the bits.
        std::uint64_t bits = static_cast<std::uint64_t>(task) << 32 | call;
        bits = (bits + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
        calls_ += bits ^ bits >> 31;
    };
    add(self_, number_);
    for (const Partner& partner : partners_) add(partner.task, partner.call);
    Message done;
    done.kind = Kind::kDone;
    done.calls = calls_;
    send_to_all(done);
}

// True if nothing more may be read from the partner, because its call may have ended well: what it
// sends next belongs to its next call.
bool ListAgreement::over_for(const Partner& partner) const {
    return equal_ == partners_.size() && partner.done == calls_;
}

bool ListAgreement::is_old(const ListDifference& difference) const {
    const auto failed = [this](TaskId task, std::uint32_t number) {
        const auto known = history_.failed.find(task);
        return known != history_.failed.end() && known->second >= number;
    };
    return failed(difference.one, difference.one_call) ||
           (!difference.refused && failed(difference.other, difference.other_call));
}

void ListAgreement::remember(const ListDifference& difference) {
    const auto note = [this](TaskId task, std::uint32_t number) {
        std::uint32_t& last = history_.failed[task];
        last = std::max(last, number);
    };
    note(difference.one, difference.one_call);
    if (!difference.refused) note(difference.other, difference.other_call);
}

void ListAgreement::fail(const ListDifference& difference) {
    // Both tasks, and all that learn of it, report it in the same words.
    difference_ = difference;
    if (!difference.refused && difference.other < difference.one) {
        std::swap(difference_->one, difference_->other);
        std::swap(difference_->one_call, difference_->other_call);
        std::swap(difference_->one_says, difference_->other_says);
    }
    remember(*difference_);
    ended_ = true;
    Message failed;
    failed.kind = Kind::kFailed;
    failed.difference = *difference_;
    send_to_all(failed);
}

}  // namespace poe::collectives
