// Definitions: the meaning of the ids in a trace's streams. Ids are local to a stream; here equal
// names have equal numbers, whatever stream they come from. Grows while a trace is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tracer/probe/format.hpp"
#include "tracer/read/region.hpp"

namespace poe::trace {

// A place in the program: an address in an object file, or a line of a source file.
struct Site {
    std::string object;         // object file, or the source file
    std::uint64_t address = 0;  // address, or the line
    bool is_line = false;
    bool operator==(const Site&) const = default;
    bool operator<(const Site& other) const {
        return std::tie(address, is_line, object) <
               std::tie(other.address, other.is_line, other.object);
    }
};

// For one thread at a time.
class Definitions {
  public:
    static constexpr std::uint32_t kNoSite = 0;

    Definitions();

    // Adds a kDefine record of a stream, with its text.
    void define(std::uint32_t stream, const Record& record, const std::string& text);

    // Returns the number of a stream's region. An undefined region gets a name of its own.
    std::uint32_t region(std::uint32_t stream, std::uint32_t id);
    std::uint32_t counter(std::uint32_t stream, std::uint32_t id);
    // Returns the number of a region that stands for a round of calls that are carried out in the
    // way that `path` names: "ring 3/15". Without a round, and if there are very many, it is `path`
    // itself.
    std::uint32_t round_of(std::uint32_t path, std::uint32_t round, std::uint32_t rounds);
    // Returns kNoSite for an undefined site.
    std::uint32_t site(std::uint32_t stream, std::uint32_t id) const;

    // Returns the name of the communicator, window or file of a context; empty: it has none. An
    // object has the name that was read last. If several had this context, it is the name of the
    // first with the words "and others".
    std::string name_of_context(std::uint32_t context) const;

    // Access by number. Precondition: the number was returned by one of the functions above.
    const Region& region(std::uint32_t number) const { return regions_[number]; }
    const std::string& counter(std::uint32_t number) const { return counters_[number]; }
    const Site& site(std::uint32_t number) const { return sites_[number]; }
    const std::vector<Region>& regions() const { return regions_; }
    const std::vector<std::string>& counters() const { return counters_; }
    const std::vector<Site>& sites() const { return sites_; }

    // The tables in a form that an index stores; without the names of contexts.
    using Names = std::unordered_map<std::uint64_t, std::uint32_t>;  // stream and id -> number
    struct Tables {
        std::vector<Region> regions;
        std::vector<std::string> counters;
        std::vector<Site> sites;
        Names region_ids, counter_ids, site_ids;
    };
    Tables tables() const;
    // Restores tables that tables() returned; numbers out of range are dropped.
    void restore(Tables tables);

  private:
    std::uint32_t intern(Region region);
    std::uint32_t intern_counter(const std::string& name);
    void name_context(std::uint32_t context, bool begins, const std::string& text);

    std::vector<Region> regions_;
    std::vector<std::string> counters_;
    std::vector<Site> sites_;
    Names region_ids_, counter_ids_, site_ids_;
    std::map<std::pair<std::string, bool>, std::uint32_t> region_numbers_;
    std::map<std::string, std::uint32_t> counter_numbers_;
    std::map<Site, std::uint32_t> site_numbers_;
    struct ContextName {
        std::string name;
        bool ended = false;    // another object has the context, and no name yet
        bool several = false;  // objects with different names
    };
    std::unordered_map<std::uint32_t, ContextName> context_names_;
};

}  // namespace poe::trace
