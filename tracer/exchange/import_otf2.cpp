// Implementation of import_otf2.hpp.
//
//   location of OTF2        becomes
//   CPU thread              a task, named after its process and itself
//   accelerator stream      a row that does not compute: outside its regions it does not count
//   metric location         no row: its values are counters of the location that they describe
#include "tracer/exchange/import_otf2.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <otf2/otf2.h>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tracer/exchange/otf2_definitions.hpp"
#include "tracer/exchange/otf2_errors.hpp"
#include "tracer/exchange/otf2_ignored.hpp"
#include "tracer/read/stream_writer.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kNanoseconds = 1'000'000'000;

using List = OTF2_AttributeList;

bool is_row(const Otf2Definitions::Location& location) {
    return location.type == OTF2_LOCATION_TYPE_CPU_THREAD ||
           location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
}

// A location with events of its own.
struct Row {
    explicit Row(StreamFacts facts) : out(std::move(facts)) {}

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

class Importer : public Otf2Ignored {
  public:
    explicit Importer(std::string anchor) : anchor_(std::move(anchor)) {}

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
    static Importer& self(void* data) {
        return static_cast<Importer&>(*static_cast<Otf2Ignored*>(data));
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
    Row* row_of(OTF2_LocationRef location, const char* event) {
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
    std::uint32_t region_in(Row& row, std::uint64_t time, std::uint32_t region) const {
        const std::uint32_t id = kFirstUserRegion + region;
        if (row.regions.insert(id).second) {
            const auto known = defined_.regions.find(region);
            if (known != defined_.regions.end())
                row.out.define(time, trace::Defined::kRegion, id, defined_.text(known->second.name),
                               known->second.what);
        }
        return id;
    }
    std::uint16_t site_in(Row& row, std::uint64_t time, const Otf2Definitions::Line& line) const;
    Otf2Definitions::Line line_of(std::uint32_t region, const List* attributes) const;
    void enter(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region,
               const Otf2Definitions::Line& line);
    void leave(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region);
    void message(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t rank, OTF2_CommRef comm,
                 std::uint32_t tag, std::uint64_t bytes, bool is_send,
                 std::optional<std::uint64_t> request = std::nullopt);
    Record collective(Row& row, OTF2_CommRef comm, std::uint32_t root, std::uint64_t bytes) const;
    OTF2_LocationRef about(OTF2_LocationRef on, OTF2_MetricRef metric, std::string& suffix) const;
    OTF2_LocationRef first_of_group(std::uint32_t group) const;
    void metric(OTF2_LocationRef on, OTF2_TimeStamp at, OTF2_MetricRef metric, std::size_t count,
                const OTF2_Type* types, const OTF2_MetricValue* values);
    void count(Row& row, std::uint64_t time, OTF2_MetricRef metric, std::uint32_t member,
               double value, const std::string& suffix);

    std::string anchor_;
    Otf2Definitions defined_;
    std::map<std::uint64_t, Row> rows_;
    std::map<std::uint64_t, TaskId> task_of_;
};

void Importer::make_rows() {
    const auto count = std::count_if(defined_.locations.begin(), defined_.locations.end(),
                                     [](const auto& each) { return is_row(each.second); });
    if (count == 0) throw Error("cannot play " + anchor_ + ": it has no locations");
    TaskId task = 0;
    std::map<std::uint32_t, NodeIndex> nodes;
    for (const auto& [id, location] : defined_.locations) {
        if (!is_row(location)) continue;
        StreamFacts facts;
        facts.task = task++;
        facts.tasks = static_cast<std::int32_t>(count);
        const auto group = defined_.location_groups.find(location.group);
        if (group != defined_.location_groups.end()) {
            const std::uint32_t node = group->second.node;
            facts.node =
                nodes.try_emplace(node, static_cast<NodeIndex>(nodes.size())).first->second;
            if (const auto name = defined_.nodes.find(node); name != defined_.nodes.end())
                facts.node_name = defined_.text(name->second);
        }
        task_of_[id] = facts.task;
        rows_.emplace(id, Row(std::move(facts)));
    }
}

std::uint16_t Importer::site_in(Row& row, std::uint64_t time,
                                const Otf2Definitions::Line& line) const {
    const std::string file = defined_.text(line.file);
    if (file.empty() || line.line == 0) return 0;
    const auto id = static_cast<std::uint16_t>(row.sites.size() + 1);
    if (id == 0) return 0;  // all numbers are used
    const auto [known, is_new] = row.sites.try_emplace({line.file, line.line}, id);
    if (is_new) row.out.define(time, trace::Defined::kLine, id, file, line.line);
    return known->second;
}

// Returns the place of a call if the event has it, otherwise the place of its region.
Otf2Definitions::Line Importer::line_of(std::uint32_t region, const List* attributes) const {
    const std::uint32_t count =
        attributes == nullptr ? 0 : OTF2_AttributeList_GetNumberOfElements(attributes);
    for (std::uint32_t i = 0; i < count; ++i) {
        OTF2_AttributeRef attribute = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value) !=
                OTF2_SUCCESS ||
            type != OTF2_TYPE_SOURCE_CODE_LOCATION)
            continue;
        const auto line = defined_.lines.find(value.sourceCodeLocationRef);
        if (line != defined_.lines.end()) return line->second;
    }
    const auto known = defined_.regions.find(region);
    return known == defined_.regions.end() ? Otf2Definitions::Line{} : known->second.begin;
}

void Importer::enter(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region,
                     const Otf2Definitions::Line& line) {
    Row* row = row_of(on, "Enter");
    if (row == nullptr) return;
    const std::uint64_t time = time_of(at);
    const std::uint32_t id = region_in(*row, time, region);
    row->out.enter(time, id, kNobody, 0, site_in(*row, time, line));
}

void Importer::leave(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region) {
    Row* row = row_of(on, "Leave");
    if (row == nullptr) return;
    const std::uint64_t time = time_of(at);
    row->out.leave(time, region_in(*row, time, region));
}

void Importer::message(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t rank,
                       OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes, bool is_send,
                       std::optional<std::uint64_t> request) {
    Row* row = row_of(on, is_send ? "MpiSend" : "MpiRecv");
    if (row == nullptr) return;
    // The type contains the communicator, so that messages of two communicators never match.
    const std::uint32_t type = tag ^ comm << 20;
    const std::uint32_t peer = task_of(rank, comm);
    if (!is_send) return row->out.receive(time_of(at), peer, type, bytes);
    row->out.send(time_of(at), peer, type, bytes);
    if (request) row->sends[*request] = {peer, type};
}

Record Importer::collective(Row& row, OTF2_CommRef comm, std::uint32_t root,
                            std::uint64_t bytes) const {
    const bool rooted = root < OTF2_COLLECTIVE_ROOT_NONE && root != OTF2_COLLECTIVE_ROOT_SELF;
    return {.kind = Kind::kCollective,
            .extra = ++row.calls[comm],
            .a = rooted ? task_of(root, comm) : kNobody,
            .b = pair(comm,
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kManyBytes - 1)))};
}

OTF2_LocationRef Importer::first_of_group(std::uint32_t group) const {
    for (const auto& [id, location] : defined_.locations)
        if (location.group == group && is_row(location)) return id;
    return OTF2_UNDEFINED_LOCATION;
}

// Returns the location that values of a metric describe. `suffix` names the described object if it
// is not the location itself.
OTF2_LocationRef Importer::about(OTF2_LocationRef on, OTF2_MetricRef metric,
                                 std::string& suffix) const {
    const auto instance = defined_.instances.find(metric);
    if (instance == defined_.instances.end()) {
        if (rows_.contains(on)) return on;
        const auto location = defined_.locations.find(on);
        if (location == defined_.locations.end()) return OTF2_UNDEFINED_LOCATION;
        suffix = " of " + defined_.text(location->second.name);
        return first_of_group(location->second.group);
    }
    const std::uint64_t scope = instance->second.scope;
    const auto number = static_cast<std::uint32_t>(scope);
    switch (instance->second.scope_kind) {
        case OTF2_SCOPE_LOCATION:
            return scope;
        case OTF2_SCOPE_LOCATION_GROUP: {
            const auto group = defined_.location_groups.find(number);
            if (group != defined_.location_groups.end())
                suffix = " of " + defined_.text(group->second.name);
            return first_of_group(number);
        }
        case OTF2_SCOPE_SYSTEM_TREE_NODE:
            if (const auto node = defined_.nodes.find(number); node != defined_.nodes.end())
                suffix = " of " + defined_.text(node->second);
            for (const auto& [id, location] : defined_.locations) {
                const auto group = defined_.location_groups.find(location.group);
                if (is_row(location) && group != defined_.location_groups.end() &&
                    group->second.node == number)
                    return id;
            }
            return rows_.begin()->first;
        default:
            suffix = " of a group";
            return rows_.begin()->first;
    }
}

void Importer::metric(OTF2_LocationRef on, OTF2_TimeStamp at, OTF2_MetricRef metric,
                      std::size_t count_of_values, const OTF2_Type* types,
                      const OTF2_MetricValue* values) {
    const auto instance = defined_.instances.find(metric);
    const auto members = defined_.metrics.find(
        instance == defined_.instances.end() ? metric : instance->second.metric);
    std::string suffix;
    const auto row = rows_.find(about(on, metric, suffix));
    if (members == defined_.metrics.end() || row == rows_.end()) {
        ++events["Metric"];
        return;
    }
    for (std::size_t i = 0; i < std::min(count_of_values, members->second.size()); ++i) {
        const double value = types[i] == OTF2_TYPE_DOUBLE ? values[i].floating_point
                             : types[i] == OTF2_TYPE_INT64
                                 ? static_cast<double>(values[i].signed_int)
                                 : static_cast<double>(values[i].unsigned_int);
        count(row->second, time_of(at), metric, members->second[i], value, suffix);
    }
}

// A value that accumulates over time is recorded as the rate of its growth until the next value.
void Importer::count(Row& row, std::uint64_t time, OTF2_MetricRef metric, std::uint32_t member,
                     double value, const std::string& suffix) {
    const auto known = defined_.members.find(member);
    const Otf2Definitions::MetricMember facts =
        known == defined_.members.end() ? Otf2Definitions::MetricMember{} : known->second;
    const int kind = facts.mode & OTF2_METRIC_VALUE_MASK;
    const bool is_rate = kind != OTF2_METRIC_VALUE_ABSOLUTE;
    value *= facts.scale;
    const auto [counter, is_new] = row.counters.try_emplace({metric, member});
    Row::Counter& own = counter->second;
    if (is_new) {
        own.id = static_cast<std::uint32_t>(row.counters.size());
        const std::string unit = is_rate ? defined_.text(facts.unit) : "";
        std::string name = defined_.text(facts.name) + suffix;
        if (is_rate) name += unit.empty() ? " per s" : " (" + unit + " per s)";
        row.out.define(time, trace::Defined::kCounter, own.id, name);
    }
    if (!is_rate) return row.out.counter(time, own.id, value);
    double rate = 0;
    if (own.record && time > own.time) {
        const double grown = kind == OTF2_METRIC_VALUE_RELATIVE ? value : value - own.value;
        rate = grown * 1e9 / static_cast<double>(time - own.time);
        row.out.replace(
            *own.record,
            {.kind = Kind::kCounter, .a = own.id, .b = std::bit_cast<std::uint64_t>(rate)});
    }
    own.value = value;
    if (own.record && time == own.time) return;
    own.time = time;
    own.record = row.out.records();
    row.out.counter(time, own.id, rate);
}

void Importer::set_regions(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List* attributes,
                  OTF2_RegionRef region) {
            self(data).enter(on, at, region, self(data).line_of(region, attributes));
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_RegionRef region) {
            self(data).leave(on, at, region);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextEnterCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*,
                  OTF2_CallingContextRef id, uint32_t) {
            const Otf2Definitions& defined = self(data).defined_;
            const auto context = defined.contexts.find(id);
            if (context == defined.contexts.end()) return OTF2_CALLBACK_SUCCESS;
            const auto line = defined.lines.find(context->second.line);
            self(data).enter(on, at, context->second.region,
                             line == defined.lines.end()
                                 ? self(data).line_of(context->second.region, nullptr)
                                 : line->second);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextLeaveCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_CallingContextRef id) {
            const auto context = self(data).defined_.contexts.find(id);
            if (context != self(data).defined_.contexts.end())
                self(data).leave(on, at, context->second.region);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_MetricRef metric,
                  uint8_t count, const OTF2_Type* types, const OTF2_MetricValue* values) {
            self(data).metric(on, at, metric, count, types, values);
            return OTF2_CALLBACK_SUCCESS;
        });
}

void Importer::set_messages(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, true);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) {
            self(data).message(on, at, peer, comm, tag, bytes, true, request);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint64_t request) {
            Row* row = self(data).row_of(on, "MpiIsendComplete");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            const auto sent = row->sends.find(request);
            if (sent == row->sends.end()) return OTF2_CALLBACK_SUCCESS;
            row->out.send_ended(self(data).time_of(at), sent->second.to, sent->second.type);
            row->sends.erase(sent);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
}

// Only the end event has the communicator, so a record is reserved at the begin event and filled at
// the end.
void Importer::set_collectives(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*) {
            Row* row = self(data).row_of(on, "MpiCollectiveBegin");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            row->begun.push_back(row->out.records());
            row->out.put(self(data).time_of(at), {});
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp, void* data, List*, OTF2_CollectiveOp,
                  OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received) {
            Row* row = self(data).row_of(on, "MpiCollectiveEnd");
            if (row == nullptr || row->begun.empty()) return OTF2_CALLBACK_SUCCESS;
            row->out.replace(row->begun.back(),
                             self(data).collective(*row, comm, root, std::max(sent, received)));
            row->begun.pop_back();
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint64_t request) {
            Row* row = self(data).row_of(on, "NonBlockingCollectiveRequest");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            row->asked[request] = row->out.records();
            row->out.put(self(data).time_of(at), {});
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_CollectiveOp,
           OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, uint64_t request) {
            Row* row = self(data).row_of(on, "NonBlockingCollectiveComplete");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            const auto asked = row->asked.find(request);
            if (asked == row->asked.end()) return OTF2_CALLBACK_SUCCESS;
            Record record = self(data).collective(*row, comm, root, std::max(sent, received));
            record.detail = static_cast<std::uint8_t>(Phase::kStarts);
            row->out.replace(asked->second, record);
            record.detail = static_cast<std::uint8_t>(Phase::kEnds);
            row->out.put(self(data).time_of(at), record);
            row->asked.erase(asked);
            return OTF2_CALLBACK_SUCCESS;
        });
}

void Importer::read_events(OTF2_Reader* reader) {
    for (const auto& [id, location] : defined_.locations)
        check(OTF2_Reader_SelectLocation(reader, id));
    const bool local = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    check(OTF2_Reader_OpenEvtFiles(reader));
    for (const auto& [id, location] : defined_.locations) {
        if (local)
            if (OTF2_DefReader* reads = OTF2_Reader_GetDefReader(reader, id)) {
                std::uint64_t count = 0;
                check(OTF2_Reader_ReadAllLocalDefinitions(reader, reads, &count));
                check(OTF2_Reader_CloseDefReader(reader, reads));
            }
        OTF2_Reader_GetEvtReader(reader, id);
    }
    if (local) check(OTF2_Reader_CloseDefFiles(reader));
    OTF2_GlobalEvtReader* merged = OTF2_Reader_GetGlobalEvtReader(reader);
    const std::unique_ptr<OTF2_GlobalEvtReaderCallbacks,
                          decltype(&OTF2_GlobalEvtReaderCallbacks_Delete)>
        calls(OTF2_GlobalEvtReaderCallbacks_New(), OTF2_GlobalEvtReaderCallbacks_Delete);
    count_ignored(calls.get());
    set_regions(calls.get());
    set_messages(calls.get());
    set_collectives(calls.get());
    check(OTF2_Reader_RegisterGlobalEvtCallbacks(reader, merged, calls.get(),
                                                 static_cast<Otf2Ignored*>(this)));
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalEvents(reader, merged, &read));
    check(OTF2_Reader_CloseGlobalEvtReader(reader, merged));
    check(OTF2_Reader_CloseEvtFiles(reader));
}

}  // namespace

TraceSource import_otf2(const std::string& anchor) {
    return Importer(anchor).run();
}

}  // namespace poe::trace
