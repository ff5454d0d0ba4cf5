// Otf2Importer: an OTF2 archive as a trace of ours, while it is read. Private to import_otf2.cpp
// and otf2_callbacks.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <otf2/otf2.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tracer/exchange/otf2_definitions.hpp"
#include "tracer/exchange/otf2_errors.hpp"
#include "tracer/exchange/otf2_ignored.hpp"
#include "tracer/read/stream_writer.hpp"
#include "tracer/read/trace_source.hpp"

namespace poe::trace {

// A location with events of its own.
struct Otf2Row {
    explicit Otf2Row(StreamFacts facts) : out(std::move(facts)) {}

    struct Sent {
        std::uint32_t to = 0;
        std::uint32_t type = 0;
    };
    // A counter, and the data to compute a rate.
    struct Counter {
        std::uint32_t id = 0;
        std::optional<std::uint64_t> record;  // the last one
        std::uint64_t time = 0;
        double value = 0;
    };

    StreamWriter out;
    std::set<std::uint32_t> regions;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint16_t> sites;  // by file, line
    std::map<std::pair<std::uint32_t, std::uint32_t>, Counter> counters;     // by metric, member
    std::vector<std::uint64_t> begun;              // record numbers reserved for collective calls
    std::map<std::uint64_t, std::uint64_t> asked;  // the same for nonblocking ones, by request
    std::map<std::uint64_t, Sent> sends;           // nonblocking ones, by request
    std::map<std::uint32_t, std::uint16_t> calls;  // number of collectives, by communicator
};

class Otf2Importer : public Otf2Ignored {
  public:
    explicit Otf2Importer(std::string anchor) : anchor_(std::move(anchor)) {}

    TraceSource run() {
        keep_otf2_quiet();
        const std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)> reader(
            OTF2_Reader_Open(anchor_.c_str()), OTF2_Reader_Close);
        if (!reader) throw Error("cannot play " + anchor_ + ": it is no archive of OTF2");
        check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()));
        defined_ = read_otf2_definitions(reader.get(), anchor_);
        make_rows();
        read_events(reader.get());
        std::string bytes = job();
        for (auto& [location, row] : rows_) bytes += row.out.bytes();
        TraceSource source = TraceSource::from_bytes(bytes, anchor_);
        if (const std::string text = words(); !text.empty()) source.add_problem(text);
        return source;
    }

  private:
    static constexpr std::uint64_t kNanoseconds = 1'000'000'000;

    static Otf2Importer& self(void* data) {
        return static_cast<Otf2Importer&>(*static_cast<Otf2Ignored*>(data));
    }
    void check(OTF2_ErrorCode code) const {
        if (code != OTF2_SUCCESS)
            throw Error("cannot play " + anchor_ + ": " + OTF2_Error_GetDescription(code));
    }

    std::string job() const {
        nlohmann::json tasks = nlohmann::json::array();
        for (const auto& [id, row] : rows_) {
            const Otf2Definitions::Location& location = defined_.locations.at(id);
            tasks.push_back({{"name", defined_.name_of(location)},
                             {"device", location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM}});
        }
        const nlohmann::json job{{"program", anchor_.substr(anchor_.find_last_of('/') + 1)},
                                 {"tasks", std::move(tasks)}};
        return job_stream(job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }

    void make_rows();
    void read_events(OTF2_Reader* reader);
    void set_regions(OTF2_GlobalEvtReaderCallbacks* calls);
    void set_messages(OTF2_GlobalEvtReaderCallbacks* calls);
    void set_collectives(OTF2_GlobalEvtReaderCallbacks* calls);

    // Returns null for a location without a row; such an event is counted as not imported.
    Otf2Row* row_of(OTF2_LocationRef location, const char* event) {
        const auto row = rows_.find(location);
        if (row != rows_.end()) return &row->second;
        ++events[event];
        return nullptr;
    }
    std::uint64_t time_of(OTF2_TimeStamp stamp) const {
        const std::uint64_t ticks = stamp > defined_.offset ? stamp - defined_.offset : 0;
        if (defined_.resolution == kNanoseconds || defined_.resolution == 0) return ticks;
        return static_cast<std::uint64_t>(static_cast<double>(ticks) * 1e9 /
                                          static_cast<double>(defined_.resolution));
    }
    std::uint32_t task_of(std::uint32_t rank, std::uint32_t comm) const {
        const auto known = task_of_.find(defined_.location_of(rank, comm));
        return known == task_of_.end() ? kNobody : static_cast<std::uint32_t>(known->second);
    }
    std::uint32_t region_in(Otf2Row& row, std::uint64_t time, std::uint32_t region) const {
        const std::uint32_t id = kFirstUserRegion + region;
        if (row.regions.insert(id).second) {
            const auto known = defined_.regions.find(region);
            if (known != defined_.regions.end())
                row.out.define(time, trace::Defined::kRegion, id, defined_.text(known->second.name),
                               known->second.what);
        }
        return id;
    }
    std::uint16_t site_in(Otf2Row& row, std::uint64_t time,
                          const Otf2Definitions::Line& line) const;
    Otf2Definitions::Line line_of(std::uint32_t region, const OTF2_AttributeList* attributes) const;
    void enter(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region,
               const Otf2Definitions::Line& line);
    void leave(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region);
    void message(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t rank, OTF2_CommRef comm,
                 std::uint32_t tag, std::uint64_t bytes, bool is_send,
                 std::optional<std::uint64_t> request = std::nullopt);
    Record collective(Otf2Row& row, OTF2_CommRef comm, std::uint32_t root,
                      std::uint64_t bytes) const;
    OTF2_LocationRef about(OTF2_LocationRef on, OTF2_MetricRef metric, std::string& suffix) const;
    OTF2_LocationRef first_of_group(std::uint32_t group) const;
    void metric(OTF2_LocationRef on, OTF2_TimeStamp at, OTF2_MetricRef metric, std::size_t count,
                const OTF2_Type* types, const OTF2_MetricValue* values);
    void count(Otf2Row& row, std::uint64_t time, OTF2_MetricRef metric, std::uint32_t member,
               double value, const std::string& suffix);

    std::string anchor_;
    Otf2Definitions defined_;
    std::map<std::uint64_t, Otf2Row> rows_;
    std::map<std::uint64_t, TaskId> task_of_;
};

}  // namespace poe::trace
