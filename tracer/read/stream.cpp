// Implementation of stream.hpp.
#include "tracer/read/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include "tracer/read/block_sums.hpp"

namespace poe::trace {
namespace {

template <std::size_t kSize>
std::string text_of(const std::array<char, kSize>& field) {
    return {field.begin(), std::find(field.begin(), field.end(), '\0')};
}

const StreamHeader* header_at(std::span<const std::byte> bytes, std::size_t at) {
    if (bytes.size() < at + kHeaderBytes) return nullptr;
    const auto* header = reinterpret_cast<const StreamHeader*>(bytes.data() + at);
    return header->magic == kMagic ? header : nullptr;
}

// Returns why a header cannot be read; empty if it can.
std::string fault_of(const StreamHeader& header) {
    if (header.byte_order != kByteOrder) return "was written on a computer of other byte order";
    if (header.version < kOldestVersion || header.version > kVersion)
        return fmt::format("has version {} of the format, this vt knows versions {} to {}",
                           header.version, kOldestVersion, kVersion);
    if (header.header_bytes != kHeaderBytes || header.record_bytes != sizeof(Record))
        return "has records of another size";
    if (header.kind < StreamKind::kJob || header.kind > StreamKind::kSamples)
        return "is of an unknown kind";
    if (header.kind != StreamKind::kJob && header.capacity == 0) return "has no capacity";
    return "";
}

// Returns the sums of a stream's blocks from its header. Empty: the stream was not gathered, or the
// sums themselves are damaged, so that no block can be trusted.
std::vector<std::uint32_t> sums_of(const StreamHeader& header, ConstHeaderPage page) {
    std::vector<std::uint32_t> sums;
    const std::uint64_t block = header.block_bytes;
    const std::uint64_t count = (padded(header.length) + block - 1) / block;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(count, kMostSums); ++i)
        sums.push_back(block_sum(page, i));
    return sums;
}

Stream stream_of(const StreamHeader& header, std::span<const std::byte> bytes) {
    Stream stream;
    stream.kind = header.kind;
    stream.task = header.task;
    stream.node = header.node;
    stream.tasks = header.tasks;
    stream.level = header.level;
    stream.wraps = header.wraps != 0;
    stream.open = header.length == 0;
    stream.capacity = header.capacity;
    stream.origin = header.origin;
    stream.wall = header.wall;
    stream.job = text_of(header.job);
    stream.node_name = text_of(header.node_name);
    stream.program = text_of(header.program);
    stream.lost = header.lost.load(std::memory_order_relaxed);
    if (header.version >= 2 && header.last_time != 0) stream.latest = header.last_time;

    const std::uint64_t reserved = header.reserved.load(std::memory_order_acquire);
    const std::uint64_t slots =
        std::min<std::uint64_t>(bytes.size() / sizeof(Record), stream.capacity);
    stream.slots = {reinterpret_cast<const Record*>(bytes.data()), static_cast<std::size_t>(slots)};
    // Without wrapping, a number beyond the capacity has no slot; it counts as lost.
    const std::uint64_t written = stream.wraps ? reserved : std::min(reserved, stream.capacity);
    stream.end = written;
    stream.first = written > stream.capacity ? written - stream.capacity : 0;
    if (stream.wraps && written > stream.capacity) {
        stream.cut = stream.capacity - slots;
    } else {
        stream.end = std::min(written, slots);
        stream.cut = written - stream.end;
    }
    return stream;
}

// Loads the words of a record in the order of the record. Another thread or process may be storing
// them.
Record load_words(const Record& place) noexcept {
    std::array<std::uint64_t, 3> words{};
    const auto* from = reinterpret_cast<const std::uint64_t*>(&place);
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    return std::bit_cast<Record>(words);
}

}  // namespace

std::string Stream::name() const {
    if (kind == StreamKind::kTask) return fmt::format("task {}", task);
    const std::string of = node_name.empty() ? fmt::format("node {}", node) : "node " + node_name;
    return kind == StreamKind::kSamples ? "the sampler of " + of : of;
}

bool Stream::continues(const Stream& before) const noexcept {
    return kind == before.kind && task == before.task && node == before.node &&
           tasks == before.tasks && wraps == before.wraps && capacity == before.capacity &&
           origin == before.origin && wall == before.wall && first == before.first &&
           end >= before.end;
}

std::uint64_t Stream::next_place(std::uint64_t number) const noexcept {
    if (number >= end) return end;
    const std::uint64_t index = number % capacity;
    if (index < slots.size()) return number;
    const std::uint64_t rest = capacity - index;
    return slots.empty() || rest >= end - number ? end : number + rest;
}

std::uint64_t Stream::last_place(std::uint64_t number) const noexcept {
    if (number <= first || slots.empty()) return first;
    const std::uint64_t index = (number - 1) % capacity;
    if (index < slots.size()) return number - 1;
    const std::uint64_t back = index - slots.size() + 1;
    return back > number - 1 - first ? first : number - 1 - back;
}

// A writer that changes a record stores a mark of 0 first, and the stamp last. If two readings are
// equal, either no word was stored between them, or only words of a record that was being written
// when the first one began; then the mark of the second one is 0.
bool Stream::read_changing(std::uint64_t number, Record& into) const noexcept {
    const std::uint64_t index = number % capacity;
    if (index >= slots.size()) return false;
    const Record& place = slots[static_cast<std::size_t>(index)];
    const std::uint16_t mark = mark_of(number / capacity);
    into = load_words(place);
    while (into.mark() == mark) {
        const Record again = load_words(place);
        if (std::memcmp(&again, &into, sizeof again) == 0) return true;
        into = again;
    }
    return false;
}

std::size_t Stream::copy(std::uint64_t index, std::span<Record> into) const noexcept {
    if (index >= slots.size()) return 0;
    const std::size_t count = std::min(into.size(), slots.size() - static_cast<std::size_t>(index));
    if (in_file()) {
        const ssize_t bytes = ::pread(file, into.data(), count * sizeof(Record),
                                      static_cast<off_t>(slots_at + index * sizeof(Record)));
        return bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(Record) : 0;
    }
    const auto from = slots.subspan(static_cast<std::size_t>(index), count);
    for (std::size_t i = 0; i < count; ++i) into[i] = from[i];
    return count;
}

std::size_t Stream::find_damage(const std::function<void(std::size_t)>& read) {
    std::vector<bool> bad(sums.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::uint64_t from = std::min<std::uint64_t>(i * block_bytes, body.size());
        const auto block = body.subspan(
            static_cast<std::size_t>(from),
            static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, body.size() - from)));
        bad[i] = sum_of(block) != sums[i];
        count += bad[i] ? 1 : 0;
        read(block.size());
    }
    damaged = count > 0 ? bad : std::vector<bool>();
    return count;
}

void find_streams(std::span<const std::byte> bytes, const std::string& file, FoundStreams& found) {
    std::size_t at = 0;
    std::size_t skipped = 0;
    std::size_t with_sums = 0;  // streams, including the job's
    std::size_t without_sums = 0;
    while (at < bytes.size()) {
        const StreamHeader* header = header_at(bytes, at);
        const std::string fault = header == nullptr ? "" : fault_of(*header);
        if (header == nullptr || !fault.empty()) {
            if (!fault.empty())
                found.problems.push_back(
                    fmt::format("{}: the stream at byte {} {}", file, at, fault));
            skipped += std::min(kHeaderBytes, bytes.size() - at);
            at += kHeaderBytes;
            continue;
        }
        const ConstHeaderPage page(bytes.data() + at, kHeaderBytes);
        const bool gathered =
            header->version >= 2 && (header->block_bytes | header->header_sum) != 0;
        ++(gathered ? with_sums : without_sums);
        if (gathered && (!fields_are_whole(page) || header->block_bytes == 0)) {
            found.problems.push_back(fmt::format(
                "{}: the header of the stream at byte {} is damaged; its records are left out",
                file, at));
            at += kHeaderBytes;
            continue;
        }
        const std::size_t body = at + kHeaderBytes;
        const std::size_t rest = bytes.size() - body;
        const std::uint64_t says = header->length == 0 ? rest : header->length;
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(says, rest));
        const auto content = bytes.subspan(body, length);
        const std::uint64_t whole = gathered ? padded(header->length) : length;
        const auto all =
            bytes.subspan(body, static_cast<std::size_t>(std::min<std::uint64_t>(whole, rest)));
        Stream stream;
        if (header->kind != StreamKind::kJob) stream = stream_of(*header, content);
        if (gathered) {
            stream.body = all;
            stream.block_bytes = header->block_bytes;
            stream.sums = sums_of(*header, page);
            if (!sums_are_whole(page))
                found.problems.push_back(fmt::format(
                    "{}: the checksums of the stream at byte {} are damaged", file, at));
        }
        if (all.size() < whole && stream.cut == 0)
            found.problems.push_back(
                fmt::format("{}: the file ends within the stream at byte {}", file, at));
        if (header->kind == StreamKind::kJob) {
            found.job.assign(reinterpret_cast<const char*>(content.data()), content.size());
            if (gathered && stream.find_damage([](std::size_t) {}) > 0)
                found.problems.push_back(
                    fmt::format("{}: the stream that names the job is damaged", file));
        } else {
            if (stream.cut > 0)
                found.problems.push_back(fmt::format("{}: the file ends before {} records of {}",
                                                     file, stream.cut, stream.name()));
            if (stream.lost > 0)
                found.problems.push_back(
                    fmt::format("{}: {} records of {} found no room when the job ran", file,
                                stream.lost, stream.name()));
            found.streams.push_back(std::move(stream));
        }
        at = body + length;
        at += (kHeaderBytes - at % kHeaderBytes) % kHeaderBytes;
    }
    if (with_sums > 0 && without_sums > 0)
        found.problems.push_back(fmt::format(
            "{}: {} of its streams have no checksums, and the others do", file, without_sums));
    if (skipped > 0)
        found.problems.push_back(
            fmt::format("{}: {} bytes are not of a trace, or damaged", file, skipped));
}

}  // namespace poe::trace
