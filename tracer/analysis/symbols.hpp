// Symbols: the function, file and line of the sites of a trace, each looked up once
// (base/source_lines.hpp).
#pragma once

#include <map>
#include <string>

#include "tracer/read/definitions.hpp"

namespace poe::trace {

struct CodeLine {
    std::string function;
    std::string file;  // empty: unknown
    int line = 0;
    // Returns "solve at heat.c:120", "solve" or "solver+0x1234".
    std::string words(const Site& site) const;
};

// For one thread at a time.
class Symbols {
  public:
    // Returns the source line of an address within a call; unknown fields are empty.
    const CodeLine& line_of(const Site& site);
    std::string words_of(const Site& site) { return line_of(site).words(site); }

  private:
    std::map<Site, CodeLine> lines_;
};

// Returns the function of a site: "solve", or "[libfoo.so.1]" if the file has no symbol there.
std::string function_name(const Site& site, Symbols& symbols);

}  // namespace poe::trace
