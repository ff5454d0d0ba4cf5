// Implementation of import_otf2.hpp.
//
//   location of OTF2        becomes
//   CPU thread              a task, named after its process and itself
//   accelerator stream      a row that does not compute: outside its regions it does not count
//   samples of a thread     no row: a location that vt has exported beside that of its task
//   metric location         no row: its values are counters of the location that they describe
#include "tracer/exchange/import_otf2.hpp"

#include "tracer/exchange/otf2_importer.hpp"

namespace poe::trace {
namespace {

using List = OTF2_AttributeList;

bool is_row(const Otf2Definitions::Location& location) {
    return !location.only_samples && (location.type == OTF2_LOCATION_TYPE_CPU_THREAD ||
                                      location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
}

}  // namespace

void Otf2Importer::make_rows() {
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
        rows_.emplace(id, Otf2Row(std::move(facts)));
    }
}

std::uint16_t Otf2Importer::site_in(Otf2Row& row, std::uint64_t time,
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
Otf2Definitions::Line Otf2Importer::line_of(std::uint32_t region, const List* attributes) const {
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

void Otf2Importer::enter(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region,
                         const Otf2Definitions::Line& line) {
    Otf2Row* row = row_of(on, "Enter");
    if (row == nullptr) return;
    const std::uint64_t time = time_of(at);
    const std::uint32_t id = region_in(*row, time, region);
    row->out.enter(time, id, kNobody, 0, site_in(*row, time, line));
}

void Otf2Importer::leave(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t region) {
    Otf2Row* row = row_of(on, "Leave");
    if (row == nullptr) return;
    const std::uint64_t time = time_of(at);
    row->out.leave(time, region_in(*row, time, region));
}

void Otf2Importer::message(OTF2_LocationRef on, OTF2_TimeStamp at, std::uint32_t rank,
                           OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes, bool is_send,
                           std::optional<std::uint64_t> request) {
    Otf2Row* row = row_of(on, is_send ? "MpiSend" : "MpiRecv");
    if (row == nullptr) return;
    // The type contains the communicator, so that messages of two communicators never match.
    const std::uint32_t type = tag ^ comm << 20;
    const std::uint32_t peer = task_of(rank, comm);
    if (!is_send) return row->out.receive(time_of(at), peer, type, bytes);
    row->out.send(time_of(at), peer, type, bytes);
    if (request) row->sends[*request] = {peer, type};
}

Record Otf2Importer::collective(Otf2Row& row, OTF2_CommRef comm, std::uint32_t root,
                                std::uint64_t bytes) const {
    const bool rooted = root < OTF2_COLLECTIVE_ROOT_NONE && root != OTF2_COLLECTIVE_ROOT_SELF;
    return {.kind = Kind::kCollective,
            .extra = ++row.calls[comm],
            .a = rooted ? task_of(root, comm) : kNobody,
            .b = pair(comm,
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kManyBytes - 1)))};
}

OTF2_LocationRef Otf2Importer::first_of_group(std::uint32_t group) const {
    for (const auto& [id, location] : defined_.locations)
        if (location.group == group && is_row(location)) return id;
    return OTF2_UNDEFINED_LOCATION;
}

// Returns the location that values of a metric describe. `suffix` names the described object if it
// is not the location itself.
OTF2_LocationRef Otf2Importer::about(OTF2_LocationRef on, OTF2_MetricRef metric,
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

void Otf2Importer::metric(OTF2_LocationRef on, OTF2_TimeStamp at, OTF2_MetricRef metric,
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
void Otf2Importer::count(Otf2Row& row, std::uint64_t time, OTF2_MetricRef metric,
                         std::uint32_t member, double value, const std::string& suffix) {
    const auto known = defined_.members.find(member);
    const Otf2Definitions::MetricMember facts =
        known == defined_.members.end() ? Otf2Definitions::MetricMember{} : known->second;
    const int kind = facts.mode & OTF2_METRIC_VALUE_MASK;
    const bool is_rate = kind != OTF2_METRIC_VALUE_ABSOLUTE;
    value *= facts.scale;
    const auto [counter, is_new] = row.counters.try_emplace({metric, member});
    Otf2Row::Counter& own = counter->second;
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

void Otf2Importer::read_events(OTF2_Reader* reader) {
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

TraceSource import_otf2(const std::string& anchor) {
    return Otf2Importer(anchor).run();
}

}  // namespace poe::trace
