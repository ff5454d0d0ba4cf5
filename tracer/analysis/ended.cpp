// Implementation of ended.hpp.
#include "tracer/analysis/ended.hpp"

#include <algorithm>
#include <bit>

namespace poe::trace {
namespace {

void add_pair(Ended& sums, const PairSum& more) {
    PairSum& sum = sums.pairs[pair(static_cast<std::uint32_t>(more.from),
                                   static_cast<std::uint32_t>(more.to))];
    sum.from = more.from;
    sum.to = more.to;
    sum.count += more.count;
    sum.bytes += more.bytes;
}

void add_calls(Ended::Calls& sum, const Ended::Calls& more) {
    sum.count += more.count;
    sum.time = std::min(sum.time + more.time, kFarthest);
    sum.longest = std::max(sum.longest, more.longest);
}

void add_waits(Ended::Waits& sum, const Ended::Waits& more) {
    sum.count += more.count;
    sum.time = std::min(sum.time + more.time, kFarthest);
}

}  // namespace

void Ended::add(const Event& event, TaskId task) {
    const Kind kind = event.record.kind;
    if (task < 0 || kind == Kind::kDefine) return;
    Events& sum = events[task];
    ++sum.all;
    if (kind == Kind::kSend || kind == Kind::kReceive) ++sum.messages;
    if (kind == Kind::kCollective) ++sum.collectives;
    if (kind == Kind::kMarker) ++sum.markers;
}

void Ended::add(const Message& message) {
    if (message.context != kUserMessages) {
        ++inner.count;
        inner.bytes += message.bytes;
        return;
    }
    add_pair(*this, {message.from, message.to, 1, message.bytes});
    ++sizes[static_cast<std::size_t>(std::bit_width(message.bytes))];
}

void Ended::add(const Interval& interval) {
    add_calls(calls[interval.frame.region],
              {1, interval.self(), interval.to - interval.frame.since});
}

void Ended::add_computing(TaskId task, std::uint32_t region, Time time) {
    Time& sum = computed[{task, region}];
    sum = std::min(sum + time, kFarthest);
}

void Ended::add(const Wait& wait) {
    add_waits(waits[{wait.task, wait.whom, wait.why}], {1, wait.to - wait.from});
}

void pack(Packer& out, const Ended& sums) {
    out.number(sums.computed.size());
    for (const auto& [key, time] : sums.computed) {
        out.number(static_cast<std::uint64_t>(key.first));
        out.number(key.second);
        out.time(time);
    }
    out.number(sums.pairs.size());
    for (const auto& [key, sum] : sums.pairs) {
        out.number(key);
        out.number(sum.count);
        out.number(sum.bytes);
    }
    out.number(sums.calls.size());
    for (const auto& [region, sum] : sums.calls) {
        out.number(region);
        out.number(sum.count);
        out.time(sum.time);
        out.time(sum.longest);
    }
    out.number(sums.waits.size());
    for (const auto& [key, sum] : sums.waits) {
        const auto& [task, whom, why] = key;
        out.number(pair(static_cast<std::uint32_t>(task), static_cast<std::uint32_t>(whom)));
        out.number(static_cast<std::uint64_t>(why));
        out.number(sum.count);
        out.time(sum.time);
    }
    const auto used = std::count_if(sums.sizes.begin(), sums.sizes.end(),
                                    [](std::uint64_t count) { return count > 0; });
    out.number(static_cast<std::uint64_t>(used));
    for (std::size_t bits = 0; bits < sums.sizes.size(); ++bits) {
        if (sums.sizes[bits] == 0) continue;
        out.number(bits);
        out.number(sums.sizes[bits]);
    }
    out.number(sums.inner.count);
    out.number(sums.inner.bytes);
    out.number(sums.events.size());
    for (const auto& [task, sum] : sums.events) {
        out.number(static_cast<std::uint64_t>(task));
        out.number(sum.all);
        out.number(sum.messages);
        out.number(sum.collectives);
        out.number(sum.markers);
    }
}

void add_packed(Ended& sums, std::span<const std::byte> bytes, std::size_t tasks,
                std::size_t regions, EndedPart wanted) {
    Unpacker in(bytes);
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t task = in.number();
        const std::uint64_t region = in.number();
        const Time time = in.bounded_time();
        if (task < tasks && region < regions && in.fine())
            sums.add_computing(static_cast<TaskId>(task), static_cast<std::uint32_t>(region), time);
    }
    if (wanted == EndedPart::kComputed) return;
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t key = in.number();
        const std::uint64_t count = in.number();
        const PairSum sum{static_cast<TaskId>(high(key)), static_cast<TaskId>(low(key)), count,
                          in.number()};
        if (high(key) < tasks && low(key) < tasks) add_pair(sums, sum);
    }
    if (wanted == EndedPart::kPairs) return;
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t region = in.number();
        Ended::Calls sum{in.number()};
        sum.time = in.bounded_time();
        sum.longest = in.bounded_time();
        if (region < regions) add_calls(sums.calls[static_cast<std::uint32_t>(region)], sum);
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t key = in.number();
        const std::uint64_t why = std::min<std::uint64_t>(in.number(), 2);
        Ended::Waits sum{in.number()};
        sum.time = in.bounded_time();
        if (high(key) < tasks && low(key) < tasks)
            add_waits(sums.waits[{static_cast<TaskId>(high(key)), static_cast<TaskId>(low(key)),
                                  static_cast<Wait::Why>(why)}],
                      sum);
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t bits = in.number();
        const std::uint64_t count = in.number();
        if (bits < sums.sizes.size()) sums.sizes[bits] += count;
    }
    sums.inner.count += in.number();
    sums.inner.bytes += in.number();
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t task = in.number();
        const Ended::Events more{in.number(), in.number(), in.number(), in.number()};
        if (task >= tasks) continue;
        Ended::Events& sum = sums.events[static_cast<TaskId>(task)];
        sum.all += more.all;
        sum.messages += more.messages;
        sum.collectives += more.collectives;
        sum.markers += more.markers;
    }
}

}  // namespace poe::trace
