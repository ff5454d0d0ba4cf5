// Source lines of code addresses, from the debug information of object files. libdw reads it; the
// library is opened at the first request, so that programs that never ask do not load it.
//
// All functions read files, so the first request for an object takes milliseconds. For one thread
// at a time.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

struct Dwfl;  // of libdw

namespace poe {

// What is known of an address; unknown fields are empty or 0.
struct SourceLine {
    std::string function;  // the name of the symbol, as the linker sees it
    std::string file;      // as it was passed to the compiler
    int line = 0;
    std::string object;        // the path of the executable or library
    std::uint64_t offset = 0;  // the address in this file

    // Returns "ring.c:42"; without debug information "main (ring+0x1189)" or "ring+0x1189"; empty
    // if nothing is known. The name of a C++ function is that of the source.
    std::string place() const;
};

// Returns the line of an address in an object file. `offset` is an address as the file's symbols
// have it. `object` and `offset` of the result are always set.
SourceLine line_in_object(const std::string& path, std::uint64_t offset);

// The lines of addresses in the memory of one process of this computer. Keeps what it has read of
// the objects that the process had loaded when this object was made.
class ProcessLines {
  public:
    explicit ProcessLines(pid_t process);
    ~ProcessLines();
    ProcessLines(const ProcessLines&) = delete;
    ProcessLines& operator=(const ProcessLines&) = delete;

    // Returns an empty SourceLine if the process is gone or must not be observed.
    SourceLine line_of(std::uint64_t address) const;

  private:
    ::Dwfl* dwfl_ = nullptr;
};

}  // namespace poe
