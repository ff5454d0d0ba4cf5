// Implementation of index.hpp.
#include "tracer/analysis/index.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "tracer/analysis/index_header.hpp"

namespace poe::trace {

Index::Places index_places(const std::string& trace, const std::string& cache,
                           std::uint64_t identity) {
    std::string plain = trace;
    while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
    Index::Places places{plain + std::string(kIndexSuffix)};
    if (!cache.empty())
        places.push_back(fmt::format("{}/poe/{:016x}{}", cache, identity, kIndexSuffix));
    return places;
}

std::optional<Index> Index::load(const TraceSource& source, const std::string& path,
                                 std::uint64_t between) {
    try {
        Index index(source, MappedFile(path));
        index.place_ = path;
        if (!index.read_table(between)) return std::nullopt;
        return index;
    } catch (const Error&) {
        return std::nullopt;  // missing or unreadable: a new index is created
    }
}

std::span<const std::byte> Index::part(std::uint64_t at, std::uint64_t size) const {
    const std::span<const std::byte> all = file_.bytes();
    if (at > all.size() || size > all.size() - at) return {};
    return all.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

bool Index::read_table(std::uint64_t between) {
    const auto first = part(0, sizeof(IndexHeader));
    if (first.empty()) return false;
    IndexHeader header;
    std::memcpy(&header, first.data(), sizeof header);
    tasks_ = static_cast<std::size_t>(source_->facts().tasks);
    between_ = between;
    if (header.mark != IndexHeader::kMark || header.version != IndexHeader::kVersion ||
        header.identity != source_->identity() ||
        (header.repaired != 0) != source_->repaired().has_value() || header.between != between ||
        header.tasks != tasks_ || header.entries == 0 ||
        header.entries > file_.bytes().size() / sizeof(Entry))
        return false;
    const auto table = part(header.table_at, header.entries * sizeof(Entry));
    if (table.empty()) return false;
    entries_.resize(static_cast<std::size_t>(header.entries));
    std::memcpy(entries_.data(), table.data(), table.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const bool sorted = i == 0 || entries_[i - 1].time <= entry.time;
        if (!sorted || part(entry.state_at, entry.state_size).empty() ||
            part(entry.spent_at, tasks_ * kStates * sizeof(std::int64_t)).size() !=
                tasks_ * kStates * sizeof(std::int64_t))
            return false;
    }
    auto tables = unpack_definitions(part(header.definitions_at, header.definitions_size));
    if (!tables) return false;
    tables_ = std::move(*tables);
    const Definitions all = definitions();
    regions_ = all.regions().size();
    sites_ = all.sites().size();
    return true;
}

std::optional<Findings> Index::kept_findings(const TraceSource& source, const Places& places,
                                             bool repaired) {
    for (const std::string& place : places) try {
            const MappedFile file(place);
            const std::span<const std::byte> bytes = file.bytes();
            IndexHeader header;
            if (bytes.size() < sizeof header) continue;
            std::memcpy(&header, bytes.data(), sizeof header);
            if (header.mark != IndexHeader::kMark || header.version != IndexHeader::kVersion ||
                header.identity != source.identity() || (header.repaired != 0) != repaired ||
                header.findings_at > bytes.size() ||
                header.findings_size > bytes.size() - header.findings_at)
                continue;
            auto findings = unpack_findings(bytes.subspan(header.findings_at, header.findings_size),
                                            source.streams().size());
            if (findings) return findings;
        } catch (const Error&) {  // there is none
        }
    return std::nullopt;
}

Definitions Index::definitions() const {
    Definitions definitions;
    definitions.restore(tables_);
    return definitions;
}

std::size_t Index::before(Time moment) const {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), moment,
                                        [](Time t, const Entry& entry) { return t < entry.time; });
    return after == entries_.begin() ? 0 : static_cast<std::size_t>(after - entries_.begin()) - 1;
}

std::array<Time, kStates> Index::spent(std::size_t keyframe, TaskId task) const {
    constexpr std::size_t kBytes = kStates * sizeof(std::int64_t);
    const auto bytes =
        part(entries_[keyframe].spent_at + static_cast<std::uint64_t>(task) * kBytes, kBytes);
    std::array<std::int64_t, kStates> counts{};
    if (bytes.size() == kBytes) std::memcpy(counts.data(), bytes.data(), kBytes);
    std::array<Time, kStates> spent{};
    for (std::size_t state = 0; state < kStates; ++state)
        spent[state] = std::clamp(Time(counts[state]), Time{0}, kFarthest);
    return spent;
}

Ended Index::ended(std::size_t keyframe) const {
    Ended sums;
    add_ended(sums, keyframe);
    return sums;
}

void Index::add_ended(Ended& sums, std::size_t keyframe, EndedPart wanted) const {
    const Entry& entry = entries_[keyframe];
    add_packed(sums, part(entry.ended_at, entry.ended_size), tasks_, regions_, wanted);
}

std::optional<Keyframe> Index::unpacked(std::span<const std::byte> state) const {
    auto frame = unpack_keyframe(state, tasks_, source_->streams().size());
    if (!frame) return std::nullopt;
    const auto known = [this](const CallFrame& f) {
        return f.region < regions_ && f.site < sites_;
    };
    for (const TaskTimeline& task : frame->state.tasks)
        if (task.region >= regions_ || !known(task.last_call) ||
            !std::all_of(task.frames.begin(), task.frames.end(), known))
            return std::nullopt;
    for (const auto* ends : {&frame->sends, &frame->receives})
        for (const Message& end : *ends)
            if (std::max({end.send_in.region, end.receive_in.region, end.hold.region}) >=
                    regions_ ||
                std::max({end.send_in.site, end.receive_in.site, end.hold.site}) >= sites_)
                return std::nullopt;
    return frame;
}

EventMerge::Positions Index::restore(std::size_t keyframe, Replay& replay) const {
    const Entry& entry = entries_[keyframe];
    auto frame = unpacked(part(entry.state_at, entry.state_size));
    if (!frame)
        throw Error("the index of the trace is damaged" +
                    (place_.empty() ? "" : "; remove " + place_));
    replay.restore(std::move(frame->state), frame->sends, frame->receives,
                   std::move(frame->meetings));
    return std::move(frame->positions);
}

}  // namespace poe::trace
