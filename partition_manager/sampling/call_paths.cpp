// See call_paths.hpp.
#include "partition_manager/sampling/call_paths.hpp"

#include <string_view>

namespace poe::pm {
namespace {

constexpr std::size_t kMostPaths = std::size_t{1} << 22;
constexpr std::size_t kLongestPath = 4096;

}  // namespace

std::uint32_t CallPaths::site_of(const CodePlace& place, std::vector<trace::Record>& records) {
    const auto [known, is_new] =
        sites_.try_emplace(place, static_cast<std::uint32_t>(sites_.size() + 1));
    if (!is_new) return known->second;
    std::string_view text = *place.file;
    text = text.substr(0, kLongestPath);
    records.push_back({.kind = trace::Kind::kDefine,
                       .detail = static_cast<std::uint8_t>(trace::Defined::kSite),
                       .extra = static_cast<std::uint16_t>(text.size()),
                       .a = known->second,
                       .b = place.address});
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), trace::kTextBytes)))
        records.push_back(trace::text_record(text.substr(0, trace::kTextBytes)));
    return known->second;
}

std::uint32_t CallPaths::path_of(const std::vector<CodePlace>& stack,
                                 std::vector<trace::Record>& records) {
    std::uint32_t path = 0;
    for (const CodePlace& place : stack) {
        const std::uint64_t key = trace::pair(path, site_of(place, records));
        const auto [known, is_new] =
            paths_.try_emplace(key, static_cast<std::uint32_t>(paths_.size() + 1));
        path = known->second;
        if (!is_new) continue;
        if (paths_.size() > kMostPaths) {
            paths_.erase(known);
            return 0;
        }
        records.push_back({.kind = trace::Kind::kDefine,
                           .detail = static_cast<std::uint8_t>(trace::Defined::kPath),
                           .a = path,
                           .b = key});
    }
    return path;
}

}  // namespace poe::pm
