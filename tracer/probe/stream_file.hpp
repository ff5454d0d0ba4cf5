// Streams as files: their names, and how the daemon creates them before any task records. Separate
// from the recorder, so that the creator and the writer of a stream share only this.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "tracer/probe/format.hpp"

namespace poe::trace {

// Returns "task-3.stream", "node-0.stream" or "job.stream".
std::string stream_name(StreamKind kind, std::int32_t number);

// Returns how many records fit into `bytes`, but at least enough for the definitions and a little
// more.
std::uint64_t records_in(Bytes bytes) noexcept;

// Copies `text` to a field of the header; truncates it to the field's size.
template <std::size_t size>
void set_text(std::array<char, size>& field, std::string_view text) noexcept {
    field.fill('\0');
    std::memcpy(field.data(), text.data(), text.size() < size ? text.size() : size);
}

// CLOCK_MONOTONIC and CLOCK_REALTIME, in ns.
std::uint64_t monotonic_ns() noexcept;
std::uint64_t wall_ns() noexcept;

// Creates the file, which must not exist, accessible to this user only, with the header and nothing
// else. Throws Error.
void create_stream(const std::string& path, const StreamHeader& header);

// Creates a complete stream of kind kJob; sets kind and length of `header`. Throws Error.
void create_job_stream(const std::string& path, StreamHeader& header, std::string_view json);

}  // namespace poe::trace
