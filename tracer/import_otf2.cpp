// See import_otf2.hpp.
#include "tracer/import_otf2.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <otf2/otf2.h>
#include <set>

#include <nlohmann/json.hpp>

#include "comm/base/error.hpp"
#include "tracer/otf2_errors.hpp"
#include "tracer/stream_writer.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kNanoseconds = 1'000'000'000;

// All that definitions say; plain data, filled by callbacks.
struct Defined {
    std::map<std::uint32_t, std::string> strings;
    struct Region {
        std::uint32_t name = 0;
        std::uint64_t what = 2;  // as of Defined::kRegion
    };
    std::map<std::uint32_t, Region> regions;
    struct Location {
        std::uint32_t name = 0;
        std::uint32_t group = 0;
    };
    std::map<std::uint64_t, Location> locations;
    std::map<std::uint32_t, std::uint32_t> node_of_group;  // system tree node
    std::map<std::uint32_t, std::uint32_t> node_names;
    struct Group {
        OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
        std::vector<std::uint64_t> members;
    };
    std::map<std::uint32_t, Group> groups;
    std::map<std::uint32_t, std::uint32_t> group_of_comm;
    std::map<std::uint32_t, std::uint32_t> metric_names;          // members
    std::map<std::uint32_t, std::vector<std::uint32_t>> metrics;  // classes -> members
    std::uint64_t resolution = kNanoseconds;
    std::uint64_t offset = 0;

    std::string text(std::uint32_t string) const {
        const auto known = strings.find(string);
        return known == strings.end() ? "" : known->second;
    }
};

// A location becomes a task.
struct Row {
    Row(StreamFacts facts) : out(std::move(facts)) {}

    StreamWriter out;
    std::set<std::uint32_t> regions;
    std::set<std::uint32_t> counters;
    std::vector<std::uint64_t> begun;              // records that stand for collective calls
    std::map<std::uint32_t, std::uint16_t> calls;  // of collectives, by communicator
};

class Importer {
  public:
    explicit Importer(std::string anchor) : anchor_(std::move(anchor)) {}

    TraceSource run() {
        keep_otf2_quiet();
        const std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)> reader(
            OTF2_Reader_Open(anchor_.c_str()), OTF2_Reader_Close);
        if (!reader) throw Error("cannot play " + anchor_ + ": it is no archive of OTF2");
        check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()));
        read_definitions(reader.get());
        make_rows();
        read_events(reader.get());
        const std::size_t slash = anchor_.find_last_of('/');
        const nlohmann::json job{
            {"program", anchor_.substr(slash == std::string::npos ? 0 : slash + 1)}};
        std::string bytes =
            job_stream(job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        for (auto& [location, row] : rows_) bytes += row.out.bytes();
        return TraceSource::from_bytes(bytes, anchor_);
    }

  private:
    static Importer& self(void* data) { return *static_cast<Importer*>(data); }
    void check(OTF2_ErrorCode code) const {
        if (code != OTF2_SUCCESS)
            throw Error("cannot play " + anchor_ + ": " + OTF2_Error_GetDescription(code));
    }

    void read_definitions(OTF2_Reader* reader);
    void read_events(OTF2_Reader* reader);

    void make_rows() {
        if (defined_.locations.empty())
            throw Error("cannot play " + anchor_ + ": it has no locations");
        TaskId task = 0;
        std::map<std::uint32_t, NodeIndex> nodes;
        for (const auto& [id, location] : defined_.locations) {
            StreamFacts facts;
            facts.task = task++;
            facts.tasks = static_cast<std::int32_t>(defined_.locations.size());
            const auto node = defined_.node_of_group.find(location.group);
            if (node != defined_.node_of_group.end()) {
                facts.node = nodes.try_emplace(node->second, static_cast<NodeIndex>(nodes.size()))
                                 .first->second;
                if (const auto name = defined_.node_names.find(node->second);
                    name != defined_.node_names.end())
                    facts.node_name = defined_.text(name->second);
            }
            task_of_[id] = facts.task;
            rows_.emplace(id, Row(std::move(facts)));
        }
    }

    std::uint64_t time_of(OTF2_TimeStamp stamp) const {
        const std::uint64_t ticks = stamp > defined_.offset ? stamp - defined_.offset : 0;
        if (defined_.resolution == kNanoseconds || defined_.resolution == 0) return ticks;
        return static_cast<std::uint64_t>(static_cast<double>(ticks) * 1e9 /
                                          static_cast<double>(defined_.resolution));
    }
    // Ranks of a communicator are places in its group, whose members are places among the locations
    // of all of them.
    std::uint32_t task_of(std::uint32_t rank, std::uint32_t comm) const {
        std::uint64_t place = rank;
        const auto group_id = defined_.group_of_comm.find(comm);
        if (group_id != defined_.group_of_comm.end()) {
            const auto group = defined_.groups.find(group_id->second);
            if (group != defined_.groups.end() && rank < group->second.members.size())
                place = group->second.members[rank];
        }
        for (const auto& [id, group] : defined_.groups)
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && place < group.members.size()) {
                place = group.members[place];
                break;
            }
        const auto known = task_of_.find(place);
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
    void message(OTF2_LocationRef location, OTF2_TimeStamp stamp, std::uint32_t rank,
                 OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes, bool is_send) {
        const auto row = rows_.find(location);
        if (row == rows_.end()) return;
        // Messages of two communicators never match: the type names both.
        const std::uint32_t type = tag ^ comm << 20;
        const std::uint32_t peer = task_of(rank, comm);
        if (is_send)
            row->second.out.send(time_of(stamp), peer, type, bytes);
        else
            row->second.out.receive(time_of(stamp), peer, type, bytes);
    }

    std::string anchor_;
    Defined defined_;
    std::map<std::uint64_t, Row> rows_;
    std::map<std::uint64_t, TaskId> task_of_;
};

void Importer::read_definitions(OTF2_Reader* reader) {
    std::uint64_t count = 0;
    check(OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &count));
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    const std::unique_ptr<OTF2_GlobalDefReaderCallbacks,
                          decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>
        calls(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
        calls.get(), [](void* data, uint64_t resolution, uint64_t offset, uint64_t, uint64_t) {
            self(data).defined_.resolution = resolution;
            self(data).defined_.offset = offset;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(
        calls.get(), [](void* data, OTF2_StringRef id, const char* text) {
            self(data).defined_.strings[id] = text;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
        calls.get(), [](void* data, OTF2_RegionRef id, OTF2_StringRef name, OTF2_StringRef,
                        OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                        OTF2_RegionFlag, OTF2_StringRef, uint32_t, uint32_t) {
            const bool collective =
                role >= OTF2_REGION_ROLE_COLL_ONE2ALL && role <= OTF2_REGION_ROLE_COLL_OTHER;
            const bool barrier = role == OTF2_REGION_ROLE_BARRIER;
            const bool call = paradigm == OTF2_PARADIGM_MPI || role == OTF2_REGION_ROLE_POINT2POINT;
            self(data).defined_.regions[id] = {name, collective || barrier ? 1u : call ? 0u : 2u};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
        calls.get(), [](void* data, OTF2_SystemTreeNodeRef id, OTF2_StringRef name, OTF2_StringRef,
                        OTF2_SystemTreeNodeRef) {
            self(data).defined_.node_names[id] = name;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
        calls.get(),
        [](void* data, OTF2_LocationGroupRef id, OTF2_StringRef, OTF2_LocationGroupType,
           OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef) {
            self(data).defined_.node_of_group[id] = node;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
        calls.get(), [](void* data, OTF2_LocationRef id, OTF2_StringRef name, OTF2_LocationType,
                        uint64_t, OTF2_LocationGroupRef group) {
            self(data).defined_.locations[id] = {name, group};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
        calls.get(), [](void* data, OTF2_GroupRef id, OTF2_StringRef, OTF2_GroupType type,
                        OTF2_Paradigm, OTF2_GroupFlag, uint32_t size, const uint64_t* members) {
            self(data).defined_.groups[id] = {type, {members, members + size}};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(
        calls.get(), [](void* data, OTF2_CommRef id, OTF2_StringRef, OTF2_GroupRef group,
                        OTF2_CommRef, OTF2_CommFlag) {
            self(data).defined_.group_of_comm[id] = group;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
        calls.get(),
        [](void* data, OTF2_MetricMemberRef id, OTF2_StringRef name, OTF2_StringRef,
           OTF2_MetricType, OTF2_MetricMode, OTF2_Type, OTF2_Base, int64_t, OTF2_StringRef) {
            self(data).defined_.metric_names[id] = name;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
        calls.get(),
        [](void* data, OTF2_MetricRef id, uint8_t size, const OTF2_MetricMemberRef* members,
           OTF2_MetricOccurrence, OTF2_RecorderKind) {
            self(data).defined_.metrics[id] = {members, members + size};
            return OTF2_CALLBACK_SUCCESS;
        });
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, calls.get(), this));
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read));
    check(OTF2_Reader_CloseGlobalDefReader(reader, definitions));
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
    OTF2_GlobalEvtReader* events = OTF2_Reader_GetGlobalEvtReader(reader);
    const std::unique_ptr<OTF2_GlobalEvtReaderCallbacks,
                          decltype(&OTF2_GlobalEvtReaderCallbacks_Delete)>
        calls(OTF2_GlobalEvtReaderCallbacks_New(), OTF2_GlobalEvtReaderCallbacks_Delete);
    using List = OTF2_AttributeList;
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(
        calls.get(),
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_RegionRef region) {
            Row& row = self(data).rows_.at(on);
            const std::uint64_t time = self(data).time_of(at);
            row.out.enter(time, self(data).region_in(row, time, region));
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(
        calls.get(),
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_RegionRef region) {
            Row& row = self(data).rows_.at(on);
            const std::uint64_t time = self(data).time_of(at);
            row.out.leave(time, self(data).region_in(row, time, region));
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                        OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, true);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                        OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t) {
            self(data).message(on, at, peer, comm, tag, bytes, true);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                        OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                        OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
    // Which communicator it is says the end only; the record takes its place at the begin.
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*) {
            Row& row = self(data).rows_.at(on);
            row.begun.push_back(row.out.records());
            row.out.put(self(data).time_of(at), {.kind = Kind::kCollective, .a = kNobody});
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
        calls.get(), [](OTF2_LocationRef on, OTF2_TimeStamp, void* data, List*, OTF2_CollectiveOp,
                        OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received) {
            Row& row = self(data).rows_.at(on);
            if (row.begun.empty()) return OTF2_CALLBACK_SUCCESS;
            const bool rooted =
                root < OTF2_COLLECTIVE_ROOT_NONE && root != OTF2_COLLECTIVE_ROOT_SELF;
            const auto bytes = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(std::max(sent, received), kManyBytes - 1));
            row.out.replace(row.begun.back(),
                            {.kind = Kind::kCollective,
                             .extra = ++row.calls[comm],
                             .a = rooted ? self(data).task_of(root, comm) : kNobody,
                             .b = pair(comm, bytes)});
            row.begun.pop_back();
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
        calls.get(),
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_MetricRef metric,
           uint8_t count, const OTF2_Type* types, const OTF2_MetricValue* values) {
            Importer& importer = self(data);
            Row& row = importer.rows_.at(on);
            const auto members = importer.defined_.metrics.find(metric);
            const std::uint64_t time = importer.time_of(at);
            for (std::size_t i = 0; i < count; ++i) {
                if (members == importer.defined_.metrics.end() || i >= members->second.size())
                    break;
                const std::uint32_t member = members->second[i];
                if (row.counters.insert(member).second)
                    row.out.define(time, trace::Defined::kCounter, member,
                                   importer.defined_.text(importer.defined_.metric_names[member]));
                const double value = types[i] == OTF2_TYPE_DOUBLE ? values[i].floating_point
                                     : types[i] == OTF2_TYPE_INT64
                                         ? static_cast<double>(values[i].signed_int)
                                         : static_cast<double>(values[i].unsigned_int);
                row.out.counter(time, member, value);
            }
            return OTF2_CALLBACK_SUCCESS;
        });
    check(OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, calls.get(), this));
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalEvents(reader, events, &read));
    check(OTF2_Reader_CloseGlobalEvtReader(reader, events));
    check(OTF2_Reader_CloseEvtFiles(reader));
}

}  // namespace

TraceSource import_otf2(const std::string& anchor) {
    return Importer(anchor).run();
}

}  // namespace poe::trace
