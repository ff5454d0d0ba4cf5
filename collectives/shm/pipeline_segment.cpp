// The layout of the memory for long calls; see pipeline_segment.hpp.
#include "collectives/shm/pipeline_segment.hpp"

#include <cstring>

#include "base/error.hpp"
#include "collectives/shm/copy_in_out.hpp"
#include "collectives/shm/pairwise_exchange.hpp"
#include "collectives/shm/pipelined_reduce.hpp"

namespace poe::collectives {
namespace {

constexpr GroupSegment::Sizes sizes_of(std::size_t kind, std::uint32_t members) {
    switch (kind) {
        case PipelineSegment::kStaged:
            return CopyInOut::sizes(members);
        case PipelineSegment::kRelayed:
            return PipelinedReduce::sizes(members);
        default:
            return PairwiseExchange::sizes(members);
    }
}

constexpr Bytes bytes_of(std::size_t kind, std::uint32_t members) {
    return GroupSegment::bytes_for(members, sizes_of(kind, members));
}

// The parts are in the order of kinds.
constexpr Bytes offset_of(std::size_t kind, std::uint32_t members) {
    Bytes start = 0;
    for (std::size_t before = 0; before < kind; ++before) start += bytes_of(before, members);
    return start;
}

}  // namespace

Bytes PipelineSegment::bytes_for(std::uint32_t members) noexcept {
    return offset_of(kKinds, members);
}

std::byte* PipelineSegment::start_of(Kind kind) const noexcept {
    return mapped_ + segment_.facts().layout.staging_offset + offset_of(kind, members_);
}

std::string PipelineSegment::reserve(Kind kind) {
    parts_[kind].asked = true;
    try {
        segment_.reserve_staging(piece_, offset_of(kind, members_), bytes_of(kind, members_));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

void PipelineSegment::use(Kind kind) {
    parts_[kind].segment.emplace(start_of(kind), members_, me_, sizes_of(kind, members_));
}

void PipelineSegment::clear() noexcept {
    for (std::size_t i = 0; i < kKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        if (of(kind) != nullptr) std::memset(start_of(kind), 0, bytes_of(kind, members_));
    }
}

}  // namespace poe::collectives
