// Lists separated by commas, as in MPI's info keys.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace poe::pm {

// Returns the words of the list, without empty ones.
inline std::vector<std::string> split_at_commas(std::string_view list) {
    std::vector<std::string> words;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (comma > 0) words.emplace_back(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return words;
}

}  // namespace poe::pm
