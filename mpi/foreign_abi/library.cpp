// See library.hpp.
#include "mpi/foreign_abi/library.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace poe::mpi::foreign {

Library library;

namespace {

constexpr const char* kSoname = "libmpi_abi.so.1";

[[noreturn]] void refuse(const char* what) {
    std::fprintf(stderr,
                 "ERROR: 0032-150  " FOREIGN_SONAME
                 " of POE cannot use %s of the same installation: %s; "
                 "install POE again, or run the program without -mpi poe\n",
                 kSoname, what != nullptr ? what : "unknown reason");
    std::_Exit(127);
}

// libmpi_abi.so.1 lies two folders above this library.
std::string beside_this_library() {
    Dl_info self{};
    if (::dladdr(static_cast<const void*>(&library), &self) == 0 || self.dli_fname == nullptr)
        return kSoname;
    std::string path = self.dli_fname;
    path.erase(path.rfind('/') + 1);
    return path + "../../" + kSoname;
}

void find(void* loaded, const char* name, void* pointer) {
    void* function = ::dlsym(loaded, name);
    if (function == nullptr) refuse(::dlerror());
    std::memcpy(pointer, &function, sizeof function);
}

// Priority 101: before the constructors of the program and of other libraries that depend on this
// one.
__attribute__((constructor(101))) void load() {
    void* loaded = ::dlopen(beside_this_library().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) refuse(::dlerror());
#define CALL(name) find(loaded, "PMPI_" #name, &library.name);
#include "interface/calls.inc"
#undef CALL
}

}  // namespace
}  // namespace poe::mpi::foreign
