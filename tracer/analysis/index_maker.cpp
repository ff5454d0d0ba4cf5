// Implementation of index_maker.hpp.
#include "tracer/analysis/index_maker.hpp"

#include <algorithm>
#include <unistd.h>

#include "base/check.hpp"
#include "tracer/analysis/index_header.hpp"

namespace poe::trace {
namespace {

// The memory of the trace is released after this many keyframes.
constexpr std::size_t kBetweenForgetting = 4;
// Aligns the next part for an array of words.
constexpr std::uint64_t kPart = 8;

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
    at_ = (at_ + kPart - 1) / kPart * kPart;
    return at;
}

void Index::Maker::keyframe(const EventMerge& merge, const Replay& replay) {
    const JobState& state = replay.state();
    Entry entry{.time = state.now, .events = state.events};
    std::vector<std::int64_t> spent;
    spent.reserve(state.tasks.size() * kStates);
    for (const TaskTimeline& task : state.tasks)
        for (const Time time : task.spent_until(state.now)) spent.push_back(time.count());
    entry.spent_at = write(spent.data(), spent.size() * sizeof(std::int64_t));
    packer_.clear();
    pack(packer_, merge, replay);
    entry.state_size = packer_.bytes().size();
    entry.state_at = write(packer_.bytes().data(), packer_.bytes().size());
    packer_.clear();
    pack(packer_, ended_);
    entry.ended_size = packer_.bytes().size();
    entry.ended_at = write(packer_.bytes().data(), packer_.bytes().size());
    entries_.push_back(entry);
}

void Index::Maker::rest(const EventMerge& merge, const Replay& replay) {
    packer_.clear();
    pack(packer_, merge, replay);
    rests_.insert(rests_.begin(),
                  {replay.state().now, replay.state().events, packer_.bytes(), ended_});
}

bool Index::Maker::run(const std::function<void(double)>& progress) {
    at_ = sizeof(IndexHeader);
    Replay replay(source_, definitions_);
    EventMerge merge(source_, EventMerge::begin_of(source_), &unfinished_);
    keyframe(merge, replay);
    return walk(merge, replay, progress);
}

bool Index::Maker::go_on(const Index& before, const Rest& from) {
    auto state = before.unpacked(std::as_bytes(std::span(from.state)));
    POE_CHECK(state.has_value());
    for (const Entry& entry : before.entries_)
        if (entry.events % between_ == 0 && entry.events <= from.events) entries_.push_back(entry);
    at_ = (entries_.back().ended_at + entries_.back().ended_size + kPart - 1) / kPart * kPart;
    definitions_ = before.definitions();
    ended_ = from.ended;
    rest_at_ = before.rests_.front().time;
    unfinished_ = before.unfinished_;
    for (std::size_t i = 0; i < unfinished_.size(); ++i)
        std::erase_if(unfinished_[i],
                      [at = state->positions[i].number](const Cursor::Unfinished& place) {
                          return place.number >= at;
                      });
    Replay replay(source_, definitions_);
    replay.restore(std::move(state->state), state->sends, state->receives,
                   std::move(state->meetings));
    EventMerge merge(source_, state->positions, &unfinished_);
    return walk(merge, replay, [](double) {});
}

bool Index::Maker::walk(EventMerge& merge, Replay& replay,
                        const std::function<void(double)>& progress) {
    EndedListener listener(ended_);
    replay.tell(&listener);
    const auto all = static_cast<double>(std::max<std::uint64_t>(source_.records(), 1));
    std::uint64_t count = replay.state().events;
    for (Event event; fine_;) {
        if (merge.next_time() > rest_at_) {
            rest(merge, replay);
            rest_at_ = kFarthest;
        }
        if (!merge.next(event)) break;
        replay.apply(event);
        ++replayed_;
        if (++count % between_ != 0) continue;
        replay.tell_computing();
        keyframe(merge, replay);
        ended_ = {};
        progress(std::min(1.0, static_cast<double>(count) / all));
        if (entries_.size() % kBetweenForgetting == 0) source_.forget();
    }
    // The part after the last keyframe is needed for sums over the whole trace.
    if (source_.open_ended()) rest(merge, replay);
    ends_ = merge.positions();
    if (count % between_ != 0) {
        replay.tell_computing();
        keyframe(merge, replay);
    }
    replay.tell(nullptr);
    packer_.clear();
    pack(packer_, definitions_);
    IndexHeader header;
    header.definitions_size = packer_.bytes().size();
    header.definitions_at = write(packer_.bytes().data(), packer_.bytes().size());
    packer_.clear();
    pack(packer_, source_.findings());
    header.findings_size = packer_.bytes().size();
    header.findings_at = write(packer_.bytes().data(), packer_.bytes().size());
    header.repaired = source_.repaired() ? 1 : 0;
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

void Index::Maker::give_rests(Index& index) {
    index.rests_ = std::move(rests_);
    index.ends_ = std::move(ends_);
    index.unfinished_ = std::move(unfinished_);
}

}  // namespace poe::trace
