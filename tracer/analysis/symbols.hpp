// Symbols: from an address in an object file to function, file and line, by the debugging
// information that the file has. Apart: the only file that knows libdw.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tracer/read/definitions.hpp"

namespace poe::trace {

struct SourceLine {
    std::string function;
    std::string file;  // empty: not known
    int line = 0;
    // "solve at heat.c:120", "solve", "solver+0x1234"
    std::string words(const Site& site) const;
};

// Object files are opened when first asked for, and kept. One thread at a time.
class Symbols {
  public:
    Symbols();
    ~Symbols();
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    // What is at this address, which lies within the call. What cannot be found out stays empty.
    const SourceLine& line_of(const Site& site);
    std::string words_of(const Site& site) { return line_of(site).words(site); }

  private:
    struct Object;
    Object& object(const std::string& path);

    std::map<std::string, std::unique_ptr<Object>> objects_;
    std::map<Site, SourceLine> lines_;
};

}  // namespace poe::trace
