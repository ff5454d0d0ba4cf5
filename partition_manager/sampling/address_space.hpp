// AddressSpace: the code that a process has mapped: which file is at which addresses. Plain data,
// kept up to date by events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace poe::pm {

struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t position = 0;  // of `begin` in the file
    std::string path;            // "[vdso]" for the code that the kernel adds; empty: no file
};

class AddressSpace {
  public:
    // Adds a mapping, which replaces what was at its addresses.
    void add(Mapping mapping);
    // Null if no code is there.
    const Mapping* find(std::uint64_t address) const;
    bool empty() const { return mappings_.empty(); }

  private:
    std::map<std::uint64_t, Mapping> mappings_;  // by begin; they do not overlap
};

// The executable mappings in the text of /proc/PID/maps.
AddressSpace read_maps(std::string_view text);

}  // namespace poe::pm
