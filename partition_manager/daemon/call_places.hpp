// CallPlaces: the source line of the call in which each task waits. pmd-core reads the debug
// information, because pmd itself loads no libraries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace poe::pm {

// A process, and the address to which its call returns.
using CallSite = std::pair<pid_t, std::uint64_t>;

class CallPlaces {
  public:
    // Looks up the places of these calls. Blocks while debug information is read, but for at most
    // two seconds; the next call looks up again what is not known by then.
    void learn(const std::vector<CallSite>& calls);

    // Returns "ring.c:42"; without debug information "main (ring+0x1189)"; empty if it is unknown.
    std::string place(const CallSite& call) const;

  private:
    std::map<CallSite, std::string> known_;
};

}  // namespace poe::pm
