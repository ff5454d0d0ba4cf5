// Stream: the location of the records of one task or node, and which records may exist. The
// contents of a file are trusted only within the limits of its size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracer/probe/format.hpp"

namespace poe::trace {

struct Stream {
    StreamKind kind = StreamKind::kTask;
    TaskId task = -1;
    NodeIndex node = 0;
    std::int32_t tasks = 0;
    std::int32_t level = 0;
    bool wraps = false;
    bool open = false;  // not closed by its writer, which runs or was killed
    std::uint64_t capacity = 0;
    std::uint64_t origin = 0;  // ns
    std::uint64_t wall = 0;    // ns
    std::string job;
    std::string node_name;
    std::string program;

    std::span<const Record> slots;  // the slots in the file; not owned
    int file = -1;  // a descriptor to read them from as well, from byte slots_at; -1: none
    std::uint64_t slots_at = 0;
    std::uint64_t first = 0;  // range of record numbers that may exist: [first, end)
    std::uint64_t end = 0;
    std::uint64_t lost = 0;  // records for which there was no room
    std::uint64_t cut = 0;   // records that were written but are missing in the file

    // For a gathered stream: the bytes after its header that the file contains, and the sums of its
    // blocks. Empty: it has no sums.
    std::span<const std::byte> body;
    std::vector<std::uint32_t> sums;
    std::uint64_t block_bytes = 0;
    // By block; empty: no damaged block is known.
    std::vector<bool> damaged;
    // No record is later than this, in ns since the origin; empty: unknown.
    std::optional<std::uint64_t> latest;

    // The degree to which a record is trusted.
    enum class Trust : std::uint8_t {
        kAll,     // its block is undamaged
        kLoose,   // its block has no sum
        kStrict,  // its block is damaged, so some of its records are invalid
    };
    Trust trust(std::uint64_t index) const noexcept {
        if (sums.empty()) return Trust::kLoose;
        if (damaged.empty()) return Trust::kAll;
        const std::uint64_t most = damaged.size() - 1;
        const std::uint64_t begins_in = index * sizeof(Record) / block_bytes;
        const std::uint64_t ends_in = ((index + 1) * sizeof(Record) - 1) / block_bytes;
        return damaged[std::min(begins_in, most)] || damaged[std::min(ends_in, most)]
                   ? Trust::kStrict
                   : Trust::kAll;
    }
    // Compares the blocks with their sums. Reads the whole stream. Returns the number of damaged
    // blocks. `read` is called with the number of bytes read since its last call.
    std::size_t find_damage(const std::function<void(std::size_t)>& read);

    // True if this stream is `before`, unchanged or grown, and has dropped none of its records.
    bool continues(const Stream& before) const noexcept;
    // Returns "task 3" or "node n1".
    std::string name() const;
    // Return the first number from `number` on, or the last before it, that has a slot in the file;
    // `end` and `first` if there is none. If a file was truncated, most numbers have none.
    std::uint64_t next_place(std::uint64_t number) const noexcept;
    std::uint64_t last_place(std::uint64_t number) const noexcept;
    // The count of numbers that have a slot in the file.
    std::uint64_t places() const noexcept {
        return end - first < slots.size() ? end - first : slots.size();
    }
    // True if the record of this number is complete. Any number is allowed.
    bool has(std::uint64_t number) const noexcept {
        const std::uint64_t index = number % capacity;
        if (index >= slots.size()) return false;
        const Record& found = slots[static_cast<std::size_t>(index)];
        const std::uint64_t stamp = __atomic_load_n(&found.stamp, __ATOMIC_ACQUIRE);
        return Record{.stamp = stamp}.mark() == mark_of(number / capacity);
    }
    // Returns the record of this number if it is complete, else null. Any number is allowed. For
    // streams that are not open, because the record may change while it is read.
    const Record* record(std::uint64_t number) const noexcept {
        return has(number) ? &slots[static_cast<std::size_t>(number % capacity)] : nullptr;
    }
    bool in_file() const noexcept { return file >= 0 && !open; }
    // The same for a stream that is being written, by this or another process: copies the record,
    // whole, as it is at a moment during the call. False if it is a hole then.
    bool read_changing(std::uint64_t number, Record& into) const noexcept;
    // Copies the slots from `index` on, as many as exist and fit. Returns their number. For a
    // stream in a file this needs no memory except the caller's. For streams that are not open.
    std::size_t copy(std::uint64_t index, std::span<Record> into) const noexcept;
};

// The contents of a file.
struct FoundStreams {
    std::vector<Stream> streams;        // of tasks and nodes
    std::string job;                    // the job's JSON; empty: there is none
    std::vector<std::string> problems;  // sentences about what is missing or wrong
};

// Finds the streams in the bytes of a file of any content, and adds them to `found`. After damaged
// parts it continues page by page. The bytes must start at a multiple of 64 in memory and must stay
// valid.
void find_streams(std::span<const std::byte> bytes, const std::string& file, FoundStreams& found);

}  // namespace poe::trace
