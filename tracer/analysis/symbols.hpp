// Symbols: converts an address in an object file to function, file and line, with the file's
// debugging information. Separate because it is the only file that uses libdw.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tracer/read/definitions.hpp"

namespace poe::trace {

struct SourceLine {
    std::string function;
    std::string file;  // empty: unknown
    int line = 0;
    // Returns "solve at heat.c:120", "solve" or "solver+0x1234".
    std::string words(const Site& site) const;
};

// Opens object files at the first request and keeps them open. For one thread at a time.
class Symbols {
  public:
    Symbols();
    ~Symbols();
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    // Returns the source line of an address within a call; unknown fields are empty.
    const SourceLine& line_of(const Site& site);
    std::string words_of(const Site& site) { return line_of(site).words(site); }

  private:
    struct Object;
    Object& object(const std::string& path);

    std::map<std::string, std::unique_ptr<Object>> objects_;
    std::map<Site, SourceLine> lines_;
};

}  // namespace poe::trace
