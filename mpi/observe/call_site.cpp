// See call_site.hpp.
#include "mpi/observe/call_site.hpp"

#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <string_view>
#include <unwind.h>

namespace poe::observe {
namespace {

// True if the address is in the library of the Fortran interface of an MPI library.
bool is_in_fortran_library(const void* address) noexcept {
    Dl_info info = {};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
    const std::string_view path = info.dli_fname;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const char* library : {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort"})
        if (name.starts_with(library)) return true;
    return false;
}

struct Search {
    const void* return_address;  // of the call of C
    bool below = true;           // the frame of that call has not been reached
    const char* found = nullptr;
};

_Unwind_Reason_Code look(_Unwind_Context* frame, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
    if (search.below) {
        search.below = address != search.return_address;
        return _URC_NO_REASON;
    }
    if (is_in_fortran_library(address)) return _URC_NO_REASON;
    // The return address into this frame is just below the stack that the frame called from.
    const char* const place = reinterpret_cast<const char*>(_Unwind_GetCFA(frame)) - sizeof(void*);
    const void* stored = nullptr;
    std::memcpy(&stored, place, sizeof stored);
    if (stored == address) search.found = place;
    return _URC_END_OF_STACK;
}

}  // namespace

const void* CallSites::find_in_table(const PoeObservedCall& call) {
    const auto key = reinterpret_cast<unsigned long>(call.site);
    const auto* const own = reinterpret_cast<const char*>(&call);
    const std::ptrdiff_t* distance = distances_.find(key);
    if (distance == nullptr) {
        Search search{call.site};
        if (is_in_fortran_library(call.site)) _Unwind_Backtrace(look, &search);
        distances_.add(key, search.found != nullptr ? search.found - own : 0);
        distance = distances_.find(key);
    }
    if (*distance == 0) return of_c_[place_in_cache(call.site)] = call.site;
    const void* site = nullptr;
    std::memcpy(&site, own + *distance, sizeof site);
    return site;
}

}  // namespace poe::observe
