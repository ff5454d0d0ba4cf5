// See index_maker.hpp.
#include "tracer/index_maker.hpp"

#include <algorithm>
#include <unistd.h>

namespace poe::trace {
namespace {

// Memory of the trace is given back after so many keyframes.
constexpr std::size_t kBetweenForgetting = 4;

}  // namespace
std::uint64_t Index::Maker::write(const void* bytes, std::size_t size) {
    const std::uint64_t at = at_;
    const auto* from = static_cast<const char*>(bytes);
    while (fine_ && size > 0) {
        const ssize_t count = ::pwrite(file_, from, size, static_cast<off_t>(at_));
        if (count <= 0) {
            fine_ = count < 0 && errno == EINTR;
            continue;
        }
        from += count;
        size -= static_cast<std::size_t>(count);
        at_ += static_cast<std::uint64_t>(count);
    }
    // The next part begins where an array of words may.
    at_ = (at_ + 7) / 8 * 8;
    return at;
}

void Index::Maker::on_message(const Message& message) {
    PairSum& sum = pairs_[pair(static_cast<std::uint32_t>(message.from),
                               static_cast<std::uint32_t>(message.to))];
    sum.from = message.from;
    sum.to = message.to;
    ++sum.count;
    sum.bytes += message.bytes;
}

void Index::Maker::keyframe(const EventMerge& merge, const Replay& replay) {
    const JobState& state = replay.state();
    Entry entry{.time = state.now, .events = state.events};
    std::vector<std::int64_t> spent;
    spent.reserve(state.tasks.size() * kStates);
    for (const TaskState& task : state.tasks)
        for (const Time time : task.spent_until(state.now)) spent.push_back(time.count());
    entry.spent_at = write(spent.data(), spent.size() * sizeof(std::int64_t));
    packer_.clear();
    pack(packer_, merge, replay);
    entry.state_size = packer_.bytes().size();
    entry.state_at = write(packer_.bytes().data(), packer_.bytes().size());
    packer_.clear();
    packer_.number(pairs_.size());
    for (const auto& [key, sum] : pairs_) {
        packer_.number(key);
        packer_.number(sum.count);
        packer_.number(sum.bytes);
    }
    entry.pairs_size = packer_.bytes().size();
    entry.pairs_at = write(packer_.bytes().data(), packer_.bytes().size());
    pairs_.clear();
    entries_.push_back(entry);
}

bool Index::Maker::run(const std::function<void(double)>& progress) {
    Header header;
    at_ = sizeof header;
    Definitions definitions;
    Replay replay(source_, definitions);
    replay.tell(this);
    EventMerge merge(source_);
    keyframe(merge, replay);
    const auto all = static_cast<double>(std::max<std::uint64_t>(source_.records(), 1));
    std::uint64_t count = 0;
    for (Event event; fine_ && merge.next(event);) {
        replay.apply(event);
        if (++count % between_ != 0) continue;
        keyframe(merge, replay);
        progress(static_cast<double>(count) / all);
        if (entries_.size() % kBetweenForgetting == 0) source_.forget();
    }
    // The end: what came after the last keyframe counts in sums over everything.
    if (count % between_ != 0) keyframe(merge, replay);
    packer_.clear();
    pack(packer_, definitions);
    header.definitions_size = packer_.bytes().size();
    header.definitions_at = write(packer_.bytes().data(), packer_.bytes().size());
    header.table_at = write(entries_.data(), entries_.size() * sizeof(Entry));
    header.entries = entries_.size();
    header.identity = source_.identity();
    header.between = between_;
    header.tasks = replay.state().tasks.size();
    at_ = 0;
    write(&header, sizeof header);
    source_.forget();
    return fine_;
}

}  // namespace poe::trace
