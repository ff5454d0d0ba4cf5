// Index: created from a whole trace, or continued after the trace has grown.
#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "tracer/analysis/index_maker.hpp"

namespace poe::trace {
namespace {

// Returns the first record of a stream that is new: a hole that was filled, a call whose end was
// stored in the record of its beginning, or a record after the previous end; null if there is none.
const Record* first_new(Cursor& cursor, const Stream& stream, std::uint64_t end_before,
                        const std::vector<Cursor::Unfinished>& unfinished, std::uint64_t& number) {
    const auto look = [&](std::uint64_t at) {
        const Record* record = cursor.look(at);
        return record != nullptr && record->kind != Kind::kNone ? record : nullptr;
    };
    for (const Cursor::Unfinished& place : unfinished) {
        const Record* record = look(number = place.number);
        if (record != nullptr && (!place.call || record->kind == Kind::kWholeCall)) return record;
    }
    for (number = stream.next_place(end_before); number < stream.end;
         number = stream.next_place(number + 1))
        if (const Record* record = look(number)) return record;
    return nullptr;
}

}  // namespace

Index Index::open(const TraceSource& source, const Places& places,
                  const std::function<void(double)>& progress, std::uint64_t between) {
    for (const std::string& place : places)
        if (auto kept = load(source, place, between)) return std::move(*kept);
    for (const std::string& place : places) {
        std::error_code ignored;
        std::filesystem::create_directories(std::filesystem::path(place).parent_path(), ignored);
        const std::string unfinished = fmt::format("{}.{}", place, ::getpid());
        const UniqueFd file(
            ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file) continue;
        const bool made = Maker(source, file.get(), between).run(progress) &&
                          ::rename(unfinished.c_str(), place.c_str()) == 0;
        if (!made) ::unlink(unfinished.c_str());
        auto index = made ? load(source, place, between) : std::nullopt;
        if (!index) continue;
        index->was_made_ = true;
        return std::move(*index);
    }
    UniqueFd memory(::memfd_create("vtindex", MFD_CLOEXEC));
    if (!memory) throw_errno("cannot get memory for an index");
    Maker maker(source, memory.get(), between);
    if (!maker.run(progress)) throw Error("there is no memory for an index of this trace");
    return in_memory(source, std::move(memory), std::move(maker));
}

Index Index::in_memory(const TraceSource& source, UniqueFd memory, Maker&& maker) {
    auto index = load(source, fmt::format("/proc/self/fd/{}", memory.get()), maker.between());
    if (!index) throw Error("there is no memory for an index of this trace");
    index->place_.clear();
    index->was_made_ = true;
    index->replayed_ = maker.replayed();
    index->memory_ = std::move(memory);
    maker.give_rests(*index);
    return std::move(*index);
}

std::optional<Index::Change> Index::change_to(const TraceSource& grown) const {
    const auto until = grown.same_until(*source_);
    if (!until || rests_.empty()) return std::nullopt;
    Change change{*until, {}};
    // A state at exactly this moment is still valid.
    if (change.from < kFarthest) ++change.from;
    const std::vector<Stream>& streams = grown.streams();
    for (std::uint32_t i = 0; i < streams.size(); ++i) {
        Cursor cursor(streams[i], ends_[i]);
        std::uint64_t number = 0;
        const Record* record =
            first_new(cursor, streams[i], source_->streams()[i].end, unfinished_[i], number);
        change.first.push_back(record == nullptr ? streams[i].end : number);
        if (record != nullptr)
            change.from =
                std::min(change.from, grown.time_of(i, unwrapped(ends_[i].time, record->time())));
    }
    return change;
}

std::optional<Index::Rest> Index::unaffected(const Change& change) const {
    const auto stands_before = [&](std::span<const std::byte> state) {
        const auto frame = unpacked(state);
        if (!frame) return false;
        for (std::size_t i = 0; i < change.first.size(); ++i)
            if (frame->positions[i].number > change.first[i]) return false;
        return true;
    };
    for (const Rest& rest : rests_)
        if (rest.time < change.from && stands_before(std::as_bytes(std::span(rest.state))))
            return rest;
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
        if (entry->events % between_ != 0 || entry->time >= change.from) continue;
        const auto state = part(entry->state_at, entry->state_size);
        if (stands_before(state))
            return Rest{entry->time,
                        entry->events,
                        {reinterpret_cast<const char*>(state.data()), state.size()},
                        {}};
    }
    return std::nullopt;
}

Index Index::grown(Index before, const TraceSource& source) {
    const auto change = before.change_to(source);
    const auto from = change ? before.unaffected(*change) : std::nullopt;
    if (!from) {
        Index made = open(
            source, {}, [](double) {}, before.between_);
        made.replayed_ += before.replayed_;
        return made;
    }
    UniqueFd memory = std::move(before.memory_);
    Maker maker(source, memory.get(), before.between_);
    if (!maker.go_on(before, *from)) throw Error("there is no memory for an index of this trace");
    Index index = in_memory(source, std::move(memory), std::move(maker));
    index.replayed_ += before.replayed_;
    return index;
}

}  // namespace poe::trace
