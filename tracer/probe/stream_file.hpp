// Streams as files: what they are called, and how the daemon makes them before anybody records.
// Apart from the recorder, so that who makes a stream and who writes it share no more than this.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "tracer/probe/format.hpp"

namespace poe::trace {

// "task-3.stream", "node-0.stream", "job.stream".
std::string stream_name(StreamKind kind, std::int32_t number);

// How many records fit into so many bytes; at least what definitions and a little more need.
std::uint64_t records_in(Bytes bytes) noexcept;

// Puts `text` into a field of the header, cut to its size.
template <std::size_t size>
void set_text(std::array<char, size>& field, std::string_view text) noexcept {
    field.fill('\0');
    std::memcpy(field.data(), text.data(), text.size() < size ? text.size() : size);
}

// CLOCK_MONOTONIC and CLOCK_REALTIME, ns.
std::uint64_t monotonic_ns() noexcept;
std::uint64_t wall_ns() noexcept;

// Makes the file, which must not exist, for this user only: the header and nothing else. Throws
// Error.
void create_stream(const std::string& path, const StreamHeader& header);

// Makes a whole stream of kind kJob. Throws Error.
void create_job_stream(const std::string& path, StreamHeader& header, std::string_view json);

}  // namespace poe::trace
