// The parts of a kCall record, as the records that it stands for, and the lines that such records
// refer to. A line is read from the record of the stream that defines it, so a reader may begin
// anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tracer/probe/tracer.hpp"
#include "tracer/read/stream.hpp"

namespace poe::trace {

// A line as a stream defines it.
struct StreamCallLine {
    std::uint32_t region = 0;
    std::uint32_t peer = kNobody;
    std::uint32_t type = 0;
    std::uint32_t context = 0;
    std::uint32_t root = kNobody;
    std::uint16_t site = 0;
};

// Pure.
class CallParts {
  public:
    CallParts(const Record& call, const StreamCallLine& line) : call_(call), line_(line) {}

    // Returns the next record; nothing at the end.
    std::optional<Record> next() noexcept;
    // What would follow the record that next() has returned.
    Bytes bytes() const noexcept { return low(call_.b); }
    About about() const noexcept { return {line_.context, about_request_ ? high(call_.b) : 0}; }

  private:
    enum class Step : std::uint8_t { kBegin, kPart, kEnd, kDone };

    Record record(Kind kind) const noexcept { return {.stamp = call_.stamp, .kind = kind}; }
    std::optional<Record> part() const noexcept;

    Record call_;
    StreamCallLine line_;
    Step step_ = Step::kBegin;
    bool about_request_ = false;
};

// Remembers the lines that were read. Not thread-safe.
class CallLinesOfTrace {
  public:
    // Returns the line that record `number` of the stream defines; nothing if it defines none.
    // `index`: of the stream in its trace.
    std::optional<StreamCallLine> find(const Stream& stream, std::uint32_t index,
                                       std::uint32_t number);

  private:
    // Memory is bounded: a damaged trace may refer to any record.
    static constexpr std::size_t kMost = std::size_t{1} << 20;
    std::unordered_map<std::uint64_t, StreamCallLine> lines_;
};

}  // namespace poe::trace
