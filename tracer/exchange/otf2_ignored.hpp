// OTF2 events that our traces cannot represent. They are counted, so that vt can report what was
// not imported. Private to the import.
#pragma once

#include <cstdint>
#include <map>
#include <otf2/otf2.h>
#include <string>

namespace poe::trace {

// The data pointer that is registered with the callbacks must be converted from Otf2Ignored*.
struct Otf2Ignored {
    std::map<std::string, std::uint64_t> events;  // by the name of their kind
    // Returns "1200 events were not imported: 600 ThreadFork, 600 ThreadJoin"; empty if none.
    std::string words() const;
};

void count_ignored(OTF2_GlobalEvtReaderCallbacks* calls);

}  // namespace poe::trace
