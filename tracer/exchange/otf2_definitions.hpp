// The definitions of an OTF2 archive as plain data. Separate from import_otf2.cpp, which converts
// events to streams. Private to export and import.
#pragma once

#include <cstdint>
#include <map>
#include <otf2/otf2.h>
#include <string>
#include <vector>

namespace poe::trace {

// The property of a location that has only the samples of a thread of this task.
inline constexpr const char* kSamplesOfTask = "POE::SAMPLES_OF_TASK";

struct Otf2Definitions {
    struct Line {
        std::uint32_t file = OTF2_UNDEFINED_STRING;
        std::uint32_t line = 0;
    };
    struct Region {
        std::uint32_t name = 0;
        std::uint64_t what = 2;  // values as for Defined::kRegion
        Line begin;
    };
    struct CallingContext {
        std::uint32_t region = 0;
        std::uint32_t line = 0;  // a source code location
    };
    struct Location {
        std::uint32_t name = 0;
        OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
        std::uint32_t group = 0;
        bool only_samples = false;  // it has the property kSamplesOfTask
    };
    struct LocationGroup {
        std::uint32_t name = 0;
        std::uint32_t node = 0;  // of the system tree
        std::uint32_t creator = OTF2_UNDEFINED_LOCATION_GROUP;
    };
    struct Group {
        OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
        std::vector<std::uint64_t> members;
    };
    struct MetricMember {
        std::uint32_t name = 0;
        std::uint32_t unit = 0;
        OTF2_MetricMode mode = OTF2_METRIC_ABSOLUTE_POINT;
        double scale = 1;  // factor from a value to its unit
    };
    struct MetricInstance {
        std::uint32_t metric = 0;
        OTF2_MetricScope scope_kind = OTF2_SCOPE_LOCATION;
        std::uint64_t scope = 0;
    };

    std::map<std::uint32_t, std::string> strings;
    std::map<std::uint32_t, Region> regions;
    std::map<std::uint32_t, Line> lines;
    std::map<std::uint32_t, CallingContext> contexts;
    std::map<std::uint64_t, Location> locations;
    std::map<std::uint32_t, LocationGroup> location_groups;
    std::map<std::uint32_t, std::uint32_t> nodes;  // system tree node -> name
    // The type is part of the key, because some archives use a number for two groups.
    std::map<std::pair<OTF2_GroupType, std::uint32_t>, Group> groups;
    std::map<std::uint32_t, std::uint32_t> group_of_comm;
    std::map<std::uint32_t, MetricMember> members;
    std::map<std::uint32_t, std::vector<std::uint32_t>> metrics;  // class -> members
    std::map<std::uint32_t, MetricInstance> instances;
    std::uint64_t resolution = 1'000'000'000;
    std::uint64_t offset = 0;

    // Empty for a string that is not defined.
    std::string text(std::uint32_t string) const;
    // Returns the location of a communicator's rank; OTF2_UNDEFINED_LOCATION if it is unknown.
    std::uint64_t location_of(std::uint32_t rank, std::uint32_t comm) const;
    // Returns the combined name of a location and its process.
    std::string name_of(const Location& location) const;
};

// Reads all global definitions. Throws Error that names `anchor`.
Otf2Definitions read_otf2_definitions(OTF2_Reader* reader, const std::string& anchor);

}  // namespace poe::trace
