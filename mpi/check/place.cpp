// Places from addresses; see place.hpp.
#include "mpi/check/place.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace poe::mpi::check {
namespace {

struct Located {
    std::string_view path;  // empty: the main program
    std::uint64_t offset = 0;
    bool known = false;
};

Located locate(const void* address) {
    Dl_info info;
    link_map* map = nullptr;
    if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return {};
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - map->l_addr;
    return {map->l_name != nullptr ? map->l_name : "", offset, true};
}

std::string_view without_folder(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool in_fortran_library(const Located& where) noexcept {
    return without_folder(where.path).starts_with("libmpifort_abi.");
}

// The return address in the caller of the function that contains `site`, which is on the stack.
const void* caller_of(const void* site) {
    std::array<void*, 64> frames;
    const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    const auto end = frames.begin() + depth;
    for (auto frame = std::find(frames.begin(), end, site); frame != end; ++frame)
        if (!in_fortran_library(locate(*frame))) return *frame;
    return site;
}

void fill(Place& place, const Located& where) {
    if (!where.known) return;
    std::array<char, 4096> path;
    std::string_view name = without_folder(where.path);
    if (name.empty()) {
        const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
        if (length > 0) name = without_folder({path.data(), static_cast<std::size_t>(length)});
    }
    // The end of a long name differs more often than its beginning.
    constexpr std::size_t kRoom = sizeof place.object - 1;
    if (name.size() > kRoom) name.remove_prefix(name.size() - kRoom);
    std::memcpy(place.object, name.data(), name.size());
    place.offset = where.offset;
}

}  // namespace

Place place_of(Function function, const void* site) {
    // A program calls MPI from the same place again and again.
    struct Last {
        const void* site = nullptr;
        Place place;
    };
    // Allocated, because there is little memory for the variables of threads of libraries that are
    // loaded later.
    thread_local std::unique_ptr<std::array<Last, 64>> last;
    if (last == nullptr) last = std::make_unique<std::array<Last, 64>>();
    Last& entry = (*last)[reinterpret_cast<std::uintptr_t>(site) / 4 % last->size()];
    const Located where = entry.site == site ? Located{} : locate(site);
    Place place;
    if (entry.site == site) {
        place = entry.place;
    } else if (in_fortran_library(where)) {
        // The same site has many callers, so it is not remembered.
        fill(place, locate(caller_of(site)));
    } else {
        fill(place, where);
        entry = {site, place};
    }
    place.function = static_cast<std::uint16_t>(function);
    return place;
}

Place place_of_code(const void* address) {
    Place place;
    fill(place, locate(address));
    return place;
}

}  // namespace poe::mpi::check
