// Events of OTF2 that have no place in a trace of ours. They are counted, so that vt can say what
// it has not imported. Private to the import.
#pragma once

#include <cstdint>
#include <map>
#include <otf2/otf2.h>
#include <string>

namespace poe::trace {

// The data that is registered with the callbacks must be one of these, as such.
struct Otf2Ignored {
    std::map<std::string, std::uint64_t> events;  // by the name of their kind
    // "1200 events were not imported: 600 ThreadFork, 600 ThreadJoin"; empty: there are none.
    std::string words() const;
};

void count_ignored(OTF2_GlobalEvtReaderCallbacks* calls);

}  // namespace poe::trace
