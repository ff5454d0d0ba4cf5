// The words of places; see place_words.hpp.
#include "mpi/check/place_words.hpp"

#include <cstring>
#include <link.h>
#include <string_view>
#include <unistd.h>

#include "base/source_lines.hpp"

namespace poe::mpi::check {
namespace {

// The path of a loaded object with this name; empty if there is none.
std::string path_of(std::string_view object) {
    struct Search {
        std::string_view object;
        std::string path;
    } search{object, {}};
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& wanted = *static_cast<Search*>(data);
            std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
            if (path.empty()) {
                char program[4096];
                const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program);
                if (length > 0) path.assign(program, static_cast<std::size_t>(length));
            }
            if (!path.ends_with(wanted.object)) return 0;
            wanted.path = std::move(path);
            return 1;
        },
        &search);
    return search.path;
}

}  // namespace

std::string words_of_place(const Place& place) {
    if (place.object[0] == '\0') return {};
    const std::string object(place.object, ::strnlen(place.object, sizeof place.object));
    // The address is that after the call, which may belong to the next line.
    SourceLine line = line_in_object(path_of(object), place.offset - 1);
    line.object = object;
    line.offset = place.offset;
    return line.place();
}

std::string words_of_call(const Place& place) {
    std::string text(function_name(place.called()));
    const std::string where = words_of_place(place);
    return where.empty() ? text : text + " at " + where;
}

std::string words_of_site(const void* site) {
    return words_of_place(place_of(Function{}, site));
}

}  // namespace poe::mpi::check
