// See address_space.hpp.
#include "partition_manager/sampling/address_space.hpp"

#include <charconv>
#include <utility>

namespace poe::pm {
namespace {

// Takes a hexadecimal number from the front, and the character after it.
std::uint64_t take_hexadecimal(std::string_view& text) {
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number, 16).ptr;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return number;
}

std::string_view take_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
    return word;
}

}  // namespace

void AddressSpace::add(Mapping mapping) {
    if (mapping.begin >= mapping.end) return;
    auto next = mappings_.lower_bound(mapping.begin);
    if (next != mappings_.begin()) {
        Mapping& before = std::prev(next)->second;
        if (before.end > mapping.begin) {
            Mapping rest = before;
            before.end = mapping.begin;
            if (rest.end > mapping.end) {
                rest.position += mapping.end - rest.begin;
                rest.begin = mapping.end;
                mappings_.emplace(rest.begin, rest);
            }
        }
    }
    while (next != mappings_.end() && next->first < mapping.end) {
        Mapping rest = next->second;
        next = mappings_.erase(next);
        if (rest.end > mapping.end) {
            rest.position += mapping.end - rest.begin;
            rest.begin = mapping.end;
            mappings_.emplace(rest.begin, rest);
            break;
        }
    }
    const std::uint64_t begin = mapping.begin;
    mappings_.insert_or_assign(begin, std::move(mapping));
}

const Mapping* AddressSpace::find(std::uint64_t address) const {
    auto next = mappings_.upper_bound(address);
    if (next == mappings_.begin()) return nullptr;
    const Mapping& mapping = std::prev(next)->second;
    return address < mapping.end ? &mapping : nullptr;
}

AddressSpace read_maps(std::string_view text) {
    AddressSpace space;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        Mapping mapping;
        mapping.begin = take_hexadecimal(line);
        mapping.end = take_hexadecimal(line);
        const bool is_code = take_word(line).find('x') != std::string_view::npos;
        mapping.position = take_hexadecimal(line);
        while (line.starts_with(' ')) line.remove_prefix(1);
        take_word(line);  // device
        take_word(line);  // file number
        mapping.path = line;
        if (is_code) space.add(std::move(mapping));
    }
    return space;
}

}  // namespace poe::pm
