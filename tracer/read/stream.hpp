// Stream: where the records of one task or node are, and which of them may be there. What a file
// says is believed only as far as its size bears it out.
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
    bool open = false;  // not closed by its writer: it runs, or was killed
    std::uint64_t capacity = 0;
    std::uint64_t origin = 0;  // ns
    std::uint64_t wall = 0;    // ns
    std::string job;
    std::string node_name;
    std::string program;

    std::span<const Record> slots;  // those that the file has; owned by whoever owns the bytes
    int file = -1;                  // where they can also be read, from this byte on; -1: nowhere
    std::uint64_t slots_at = 0;
    std::uint64_t first = 0;  // numbers of the records that may be there: [first, end)
    std::uint64_t end = 0;
    std::uint64_t lost = 0;  // found no room when they were to be written
    std::uint64_t cut = 0;   // were written, but the file ends before them

    // Of a gathered stream: what is behind its header as far as the file has it, and the sums of
    // its blocks. Empty: it has no sums.
    std::span<const std::byte> body;
    std::vector<std::uint32_t> sums;
    std::uint64_t block_bytes = 0;
    // By block; empty: no block is damaged, as far as anybody has looked.
    std::vector<bool> damaged;
    // No record is of a later time, ns since the origin; nothing: nobody knows.
    std::optional<std::uint64_t> latest;

    // How far a record at that place is believed.
    enum class Trust : std::uint8_t {
        kAll,     // its block is whole
        kLoose,   // there is no sum of it
        kStrict,  // its block is damaged: there are bad ones among its records
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
    // Compares the blocks with their sums; the number of those that are damaged. Reads all of it.
    // `read` is told how much has been read since it was told last.
    std::size_t find_damage(const std::function<void(std::size_t)>& read);

    // True when this is what `before` was, grown or as it was: no record of it has been given up.
    bool continues(const Stream& before) const noexcept;
    // "task 3" or "node n1".
    std::string name() const;
    // The next number from this one on, or the last one before it, whose place the file has;
    // `end` and `first` when there is none. Where a file was cut, most numbers have none.
    std::uint64_t next_place(std::uint64_t number) const noexcept;
    std::uint64_t last_place(std::uint64_t number) const noexcept;
    // Numbers that have a place in the file.
    std::uint64_t places() const noexcept {
        return end - first < slots.size() ? end - first : slots.size();
    }
    // The record of this number if it is whole, else null. Any number is allowed.
    const Record* record(std::uint64_t number) const noexcept {
        const std::uint64_t index = number % capacity;
        if (index >= slots.size()) return nullptr;
        const Record& found = slots[static_cast<std::size_t>(index)];
        return found.mark() == mark_of(number / capacity) ? &found : nullptr;
    }
    bool in_file() const noexcept { return file >= 0 && !open; }
    // Copies the slots from this index on, as many as there are and fit; answers how many. Costs no
    // memory but the caller's where they are in a file.
    std::size_t copy(std::uint64_t index, std::span<Record> into) const noexcept;
};

// What a file holds.
struct FoundStreams {
    std::vector<Stream> streams;        // of tasks and nodes
    std::string job;                    // the JSON of the job; empty: there is none
    std::vector<std::string> problems;  // sentences about what is missing or wrong
};

// Finds the streams in the bytes of a file, whatever they are, and adds them. Page by page it goes
// on behind what is damaged. The bytes must begin at a multiple of 64 in memory and stay.
void find_streams(std::span<const std::byte> bytes, const std::string& file, FoundStreams& found);

}  // namespace poe::trace
