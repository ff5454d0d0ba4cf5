// Implementation of event_merge.hpp.
#include "tracer/read/event_merge.hpp"

#include <algorithm>

namespace poe::trace {

EventMerge::Positions EventMerge::begin_of(const TraceSource& source) {
    Positions begin;
    for (const Stream& stream : source.streams()) begin.push_back({.number = stream.first});
    return begin;
}

EventMerge::EventMerge(const TraceSource& source, const Positions& from, Unfinished* unfinished)
    : source_(source) {
    if (unfinished != nullptr) unfinished->resize(source.streams().size());
    const std::vector<Stream>& streams = source.streams();
    for (std::size_t i = 0; i < streams.size(); ++i) {
        Cursor::Position at = i < from.size() ? from[i] : Cursor::Position{};
        at.number = std::clamp(at.number, streams[i].first, streams[i].end);
        cursors_.emplace_back(streams[i], at);
        if (unfinished != nullptr && streams[i].open)
            cursors_.back().note_unfinished(&(*unfinished)[i]);
    }
    fill();
}

void EventMerge::fill() {
    before_.resize(cursors_.size());
    for (std::uint32_t i = 0; i < cursors_.size(); ++i) {
        Head head{.stream = i};
        if (read(head)) heap_.push_back(head);
    }
    std::make_heap(heap_.begin(), heap_.end(), [](const Head& a, const Head& b) {
        return a.time != b.time ? a.time > b.time : a.stream > b.stream;
    });
}

bool EventMerge::read(Head& head) {
    Cursor& cursor = cursors_[head.stream];
    before_[head.stream] = cursor.position();
    head.record = cursor.next();
    if (head.record == nullptr) return false;
    head.time = source_.time_of(head.stream, cursor.time());
    return true;
}

bool EventMerge::next(Event& event) {
    if (heap_.empty()) return false;
    Head& top = heap_.front();
    event.time = top.time;
    event.stream = top.stream;
    event.number = cursors_[top.stream].number();
    event.record = *top.record;
    if (!read(top)) {
        top = heap_.back();
        heap_.pop_back();
    }
    sift_down();
    return true;
}

void EventMerge::sift_down() {
    const std::size_t size = heap_.size();
    const auto later = [this](std::size_t a, std::size_t b) {
        return heap_[a].time != heap_[b].time ? heap_[a].time > heap_[b].time
                                              : heap_[a].stream > heap_[b].stream;
    };
    for (std::size_t at = 0;;) {
        std::size_t child = 2 * at + 1;
        if (child >= size) return;
        if (child + 1 < size && later(child, child + 1)) ++child;
        if (!later(at, child)) return;
        std::swap(heap_[at], heap_[child]);
        at = child;
    }
}

EventMerge::Positions EventMerge::positions() const {
    return before_;
}

std::uint64_t EventMerge::holes() const {
    std::uint64_t holes = 0;
    for (const Cursor& cursor : cursors_) holes += cursor.holes();
    return holes;
}

std::uint64_t EventMerge::implausible() const {
    std::uint64_t sum = 0;
    for (const Cursor& cursor : cursors_) sum += cursor.implausible();
    return sum;
}

}  // namespace poe::trace
