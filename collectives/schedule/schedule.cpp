// Building and counting schedules; see schedule.hpp.
#include "collectives/schedule/schedule.hpp"

#include <algorithm>

namespace poe::collectives {

void Schedule::clear() noexcept {
    steps_.clear();
    work_ = 0;
    started_ = 0;
    waited_ = 0;
    phase_ = 0;
}

void Schedule::message(StepKind kind, Rank peer, Place from, Place to, Bytes length, int round) {
    steps_.push_back({kind, from, to, peer, phase_ + round, length});
    ++started_;
}

void Schedule::send(Rank to, Place from, Bytes length, int round) {
    if (length > 0) message(StepKind::kSend, to, from, {}, length, round);
}

void Schedule::receive(Rank from, Place to, Bytes length, int round) {
    if (length > 0) message(StepKind::kReceive, from, {}, to, length, round);
}

void Schedule::signal(Rank to, int round) {
    message(StepKind::kSend, to, {}, {}, 0, round);
}

void Schedule::await_signal(Rank from, int round) {
    message(StepKind::kReceive, from, {}, {}, 0, round);
}

void Schedule::wait() {
    wait_for(started_);
}

void Schedule::wait_for(std::uint32_t messages) {
    // Messages of 0 bytes were omitted.
    messages = std::min(messages, started_);
    if (messages <= waited_) return;
    waited_ = messages;
    steps_.push_back({StepKind::kWait, {}, {}, static_cast<std::int32_t>(messages), 0, 0});
}

void Schedule::local(StepKind kind, Place from, Place to, Bytes length) {
    if (length > 0) steps_.push_back({kind, from, to, 0, 0, length});
}

void Schedule::copy(Place from, Place to, Bytes length) {
    if (from.buffer == to.buffer && from.offset == to.offset) return;
    if (!steps_.empty() && steps_.back().kind == StepKind::kCopy) {
        Step& last = steps_.back();
        if (last.from.buffer == from.buffer && last.from.offset + last.length == from.offset &&
            last.to.buffer == to.buffer && last.to.offset + last.length == to.offset) {
            last.length += length;
            return;
        }
    }
    local(StepKind::kCopy, from, to, length);
}

void Schedule::append(Place from, Place to, Bytes length) {
    local(StepKind::kAppend, from, to, length);
}

void Schedule::prepend(Place from, Place to, Bytes length) {
    local(StepKind::kPrepend, from, to, length);
}

Place Schedule::work(Bytes length) {
    constexpr Bytes kLine = 64;
    const Place place{Buffer::kScratch, work_};
    work_ += (length + kLine - 1) / kLine * kLine;
    return place;
}

Counts count(std::uint32_t n, const Generator& generate) {
    struct Round {
        bool any = false;
        Bytes largest = 0;
    };
    std::vector<Round> rounds;
    Counts counts;
    Schedule schedule;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        schedule.clear();
        generate(static_cast<Rank>(rank), schedule);
        for (const Step& step : schedule.steps()) {
            if (step.kind != StepKind::kSend) continue;
            const auto index = static_cast<std::size_t>(step.round);
            if (index >= rounds.size()) rounds.resize(index + 1);
            rounds[index].any = true;
            rounds[index].largest = std::max(rounds[index].largest, step.length);
            counts.c3 += step.length;
        }
    }
    for (const Round& round : rounds) {
        counts.c1 += round.any ? 1 : 0;
        counts.c2 += round.largest;
    }
    return counts;
}

}  // namespace poe::collectives
