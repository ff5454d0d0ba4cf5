// Implementation of otf2_definitions.hpp.
#include "tracer/exchange/otf2_definitions.hpp"

#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "tracer/exchange/otf2_errors.hpp"

namespace poe::trace {
namespace {

Otf2Definitions& self(void* data) {
    return *static_cast<Otf2Definitions*>(data);
}

// The values of Defined::kRegion.
std::uint64_t kind_of(OTF2_RegionRole role, OTF2_Paradigm paradigm) {
    const bool collective =
        role >= OTF2_REGION_ROLE_COLL_ONE2ALL && role <= OTF2_REGION_ROLE_COLL_OTHER;
    if (collective || role == OTF2_REGION_ROLE_BARRIER) return 1;
    return paradigm == OTF2_PARADIGM_MPI || role == OTF2_REGION_ROLE_POINT2POINT ? 0 : 2;
}

using DefinitionCallbacks = OTF2_GlobalDefReaderCallbacks;

void set_names(DefinitionCallbacks* calls) {
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
        calls, [](void* data, uint64_t resolution, uint64_t offset, uint64_t, uint64_t) {
            self(data).resolution = resolution;
            self(data).offset = offset;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(
        calls, [](void* data, OTF2_StringRef id, const char* text) {
            self(data).strings[id] = text;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
        calls, [](void* data, OTF2_RegionRef id, OTF2_StringRef name, OTF2_StringRef,
                  OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag,
                  OTF2_StringRef file, uint32_t line, uint32_t) {
            self(data).regions[id] = {name, kind_of(role, paradigm), {file, line}};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(
        calls, [](void* data, OTF2_SourceCodeLocationRef id, OTF2_StringRef file, uint32_t line) {
            self(data).lines[id] = {file, line};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(
        calls, [](void* data, OTF2_CallingContextRef id, OTF2_RegionRef region,
                  OTF2_SourceCodeLocationRef line, OTF2_CallingContextRef) {
            self(data).contexts[id] = {region, line};
            return OTF2_CALLBACK_SUCCESS;
        });
}

void set_places(DefinitionCallbacks* calls) {
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
        calls, [](void* data, OTF2_SystemTreeNodeRef id, OTF2_StringRef name, OTF2_StringRef,
                  OTF2_SystemTreeNodeRef) {
            self(data).nodes[id] = name;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
        calls, [](void* data, OTF2_LocationGroupRef id, OTF2_StringRef name, OTF2_LocationGroupType,
                  OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator) {
            self(data).location_groups[id] = {name, node, creator};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
        calls, [](void* data, OTF2_LocationRef id, OTF2_StringRef name, OTF2_LocationType type,
                  uint64_t, OTF2_LocationGroupRef group) {
            self(data).locations[id] = {name, type, group};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(
        calls,
        [](void* data, OTF2_LocationRef id, OTF2_StringRef name, OTF2_Type, OTF2_AttributeValue) {
            if (self(data).text(name) == kSamplesOfTask)
                self(data).locations[id].only_samples = true;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
        calls, [](void* data, OTF2_GroupRef id, OTF2_StringRef, OTF2_GroupType type,
                  OTF2_Paradigm paradigm, OTF2_GroupFlag, uint32_t size, const uint64_t* members) {
            self(data).groups[{type, id}] = {paradigm, {members, members + size}};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(
        calls, [](void* data, OTF2_CommRef id, OTF2_StringRef, OTF2_GroupRef group, OTF2_CommRef,
                  OTF2_CommFlag) {
            self(data).group_of_comm[id] = group;
            return OTF2_CALLBACK_SUCCESS;
        });
}

void set_metrics(DefinitionCallbacks* calls) {
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
        calls, [](void* data, OTF2_MetricMemberRef id, OTF2_StringRef name, OTF2_StringRef,
                  OTF2_MetricType, OTF2_MetricMode mode, OTF2_Type, OTF2_Base base,
                  int64_t exponent, OTF2_StringRef unit) {
            const double of_base = base == OTF2_BASE_BINARY ? 2 : 10;
            self(data).members[id] = {name, unit, mode,
                                      std::pow(of_base, static_cast<double>(exponent))};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
        calls, [](void* data, OTF2_MetricRef id, uint8_t size, const OTF2_MetricMemberRef* members,
                  OTF2_MetricOccurrence, OTF2_RecorderKind) {
            self(data).metrics[id] = {members, members + size};
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
        calls, [](void* data, OTF2_MetricRef id, OTF2_MetricRef metric, OTF2_LocationRef,
                  OTF2_MetricScope kind, uint64_t scope) {
            self(data).instances[id] = {metric, kind, scope};
            return OTF2_CALLBACK_SUCCESS;
        });
}

}  // namespace

std::string Otf2Definitions::text(std::uint32_t string) const {
    const auto known = strings.find(string);
    return known == strings.end() ? "" : known->second;
}

// A rank of a communicator is an index into its group. The group's members are indices into the
// locations of all communicators of the same paradigm.
std::uint64_t Otf2Definitions::location_of(std::uint32_t rank, std::uint32_t comm) const {
    std::uint64_t place = rank;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_MPI;
    if (const auto group_id = group_of_comm.find(comm); group_id != group_of_comm.end()) {
        const auto group = groups.find({OTF2_GROUP_TYPE_COMM_GROUP, group_id->second});
        if (group != groups.end()) {
            paradigm = group->second.paradigm;
            if (rank < group->second.members.size()) place = group->second.members[rank];
        }
    }
    const Group* all = nullptr;
    for (const auto& [key, group] : groups)
        if (key.first == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            (all == nullptr || group.paradigm == paradigm))
            all = &group;
    if (all == nullptr) return place;
    return place < all->members.size() ? all->members[place] : OTF2_UNDEFINED_LOCATION;
}

std::string Otf2Definitions::name_of(const Location& location) const {
    const auto group = location_groups.find(location.group);
    const std::string process = group == location_groups.end() ? "" : text(group->second.name);
    const std::string own = text(location.name);
    if (process.empty() || own.empty() || process == own) return process.empty() ? own : process;
    return process + ", " + own;
}

Otf2Definitions read_otf2_definitions(OTF2_Reader* reader, const std::string& anchor) {
    Otf2Definitions found;
    const auto check = [&anchor](OTF2_ErrorCode code) {
        if (code != OTF2_SUCCESS)
            throw Error("cannot play " + anchor + ": " + OTF2_Error_GetDescription(code));
    };
    std::uint64_t count = 0;
    check(OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &count));
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    const std::unique_ptr<DefinitionCallbacks, decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>
        calls(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
    set_names(calls.get());
    set_places(calls.get());
    set_metrics(calls.get());
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, calls.get(), &found));
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read));
    check(OTF2_Reader_CloseGlobalDefReader(reader, definitions));
    return found;
}

}  // namespace poe::trace
