// StreamWriter: builds a stream of records in memory, as a task would write it. For events from
// other sources (other trace formats, tests). Pure. The recorder of running tasks is a different
// class, which shares only format.hpp with this one.
#pragma once

#include <string>
#include <string_view>

#include "tracer/probe/format.hpp"
#include "tracer/read/call_parts.hpp"

namespace poe::trace {

struct StreamFacts {
    StreamKind kind = StreamKind::kTask;
    TaskId task = 0;
    NodeIndex node = 0;
    std::int32_t tasks = 1;
    std::int32_t level = 9;
    std::uint64_t origin = 0;          // ns, see StreamHeader
    std::uint64_t wall = 0;            // ns
    std::uint32_t version = kVersion;  // of the format: 1 has no checksums
    std::uint64_t capacity = 0;        // records; not 0: the stream wraps and keeps this many
    std::string job;
    std::string node_name;
    std::string program;
};

// For one thread at a time. Times are in ns since the origin.
class StreamWriter {
  public:
    explicit StreamWriter(StreamFacts facts) : facts_(std::move(facts)) {}

    void put(std::uint64_t time, Record record);
    // Adds a record and the text that belongs to it.
    void put(std::uint64_t time, Record record, std::string_view text);

    void define(std::uint64_t time, Defined what, std::uint32_t id, std::string_view name,
                std::uint64_t value = 0);
    void enter(std::uint64_t time, std::uint32_t region, std::uint32_t peer = kNobody,
               std::uint32_t type = 0, std::uint16_t site = 0);
    void leave(std::uint64_t time, std::uint32_t region);
    void send(std::uint64_t time, std::uint32_t to, std::uint32_t type, Bytes bytes,
              std::uint16_t number = 0);
    void receive(std::uint64_t time, std::uint32_t from, std::uint32_t type, Bytes bytes,
                 std::uint16_t number = 0);
    // Call after the enter() of the call.
    void collective(std::uint64_t time, std::uint16_t number, std::uint32_t root,
                    std::uint32_t group, Bytes bytes, Phase phase = Phase::kWhole,
                    DataFlow flow = DataFlow::kNone);
    void carried_out(std::uint64_t time, std::uint32_t path, std::uint32_t round,
                     std::uint32_t rounds);
    void send_ended(std::uint64_t time, std::uint32_t to, std::uint32_t type,
                    std::uint16_t number = 0);
    // Defines a line of calls; returns its number for call().
    std::uint32_t call_line(std::uint64_t time, const StreamCallLine& line);
    void call(std::uint64_t time, std::uint32_t line, std::uint8_t detail, Bytes bytes = 0,
              std::uint16_t number = 0, std::uint32_t request = 0);
    // A call from its beginning to its end, `duration` ns later. Precondition: call.fits().
    void whole_call(std::uint64_t time, std::uint32_t line, const WholeCall& call,
                    std::uint16_t number = 0);
    // Call after the message or call that it belongs to.
    void about(std::uint64_t time, std::uint32_t context, std::uint32_t request);
    void counter(std::uint64_t time, std::uint32_t counter, double value);
    // Replaces an existing record; its time stays. Not for streams that wrap.
    void replace(std::uint64_t number, Record record);
    // Skips a record's slot, as a writer that was killed does.
    void leave_hole() { ++reserved_; }

    std::uint64_t records() const { return reserved_; }
    // Returns the whole stream, padded to full pages. `closed`: with length and sums in the header,
    // as in a gathered stream.
    std::string bytes(bool closed = true) const;

  private:
    void message(std::uint64_t time, Record record, Bytes bytes);

    StreamFacts facts_;
    std::string records_;
    std::uint64_t reserved_ = 0;
    std::uint64_t last_time_ = 0;
};

// Returns the stream of the job: JSON as in FORMAT.md.
std::string job_stream(std::string_view json, std::uint32_t version = kVersion);

}  // namespace poe::trace
