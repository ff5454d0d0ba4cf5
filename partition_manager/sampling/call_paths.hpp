// CallPaths: gives numbers to the places in stacks and to call paths, and records the meaning of
// each number before it is used. A call path is a place and the call path of its caller. Equal
// stacks therefore have one number, and stacks with equal outer frames share the numbers of these.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer/probe/format.hpp"

namespace poe::pm {

struct CodePlace {
    const std::string* file = nullptr;  // interned by the caller: equal files have equal addresses
    std::uint64_t address = 0;
    bool operator==(const CodePlace&) const = default;
};

class CallPaths {
  public:
    // Returns the number of the path; 0 for an empty stack, or if the numbers are exhausted.
    // `stack`: outermost place first. Appends new definitions to `records`.
    std::uint32_t path_of(const std::vector<CodePlace>& stack, std::vector<trace::Record>& records);

  private:
    struct PlaceHash {
        std::size_t operator()(const CodePlace& place) const {
            return std::hash<const void*>()(place.file) ^ place.address * 0x9e3779b97f4a7c15u;
        }
    };

    std::uint32_t site_of(const CodePlace& place, std::vector<trace::Record>& records);

    std::unordered_map<CodePlace, std::uint32_t, PlaceHash> sites_;
    std::unordered_map<std::uint64_t, std::uint32_t> paths_;  // by pair(path of the caller, site)
};

}  // namespace poe::pm
