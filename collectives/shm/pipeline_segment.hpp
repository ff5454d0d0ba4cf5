// PipelineSegment: what the members of a group share for long calls: a part of the group's common piece
// of the node segment for each kind of such calls, reserved when one is first made. Apart from
// ShmCollectives, which agrees with the other members that all have it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/segment/node_segment.hpp"
#include "collectives/shm/group_segment.hpp"

namespace poe::collectives {

class PipelineSegment {
  public:
    enum Kind : std::size_t { kStaged, kRelayed, kPaired, kKinds };

    // For one of `members` in that piece, which is mapped at `mapped`. All must outlive it.
    PipelineSegment(const NodeSegment& segment, std::uint32_t piece, std::byte* mapped,
                    std::uint32_t members, std::uint32_t me) noexcept
        : segment_(segment), piece_(piece), mapped_(mapped), members_(members), me_(me) {}
    // Of all kinds: at most staging_bytes (segment_layout.hpp) of as many and any more.
    static Bytes bytes_for(std::uint32_t members) noexcept;

    // Whether that was tried.
    bool asked(Kind kind) const noexcept { return parts_[kind].asked; }
    // What is missing, or nothing. Every member tries; what another one has reserved is there.
    std::string reserve(Kind kind);
    // From now on it is used, since all have it.
    void use(Kind kind);
    // Null: not all have it.
    GroupSegment* of(Kind kind) noexcept {
        return parts_[kind].commons ? &*parts_[kind].commons : nullptr;
    }
    // Nobody uses it any more: all of it zero again.
    void clear() noexcept;

  private:
    struct Part {
        bool asked = false;
        std::optional<GroupSegment> commons;
    };
    std::byte* start_of(Kind kind) const noexcept;

    const NodeSegment& segment_;
    std::uint32_t piece_;
    std::byte* mapped_;
    std::uint32_t members_;
    std::uint32_t me_;
    std::array<Part, kKinds> parts_;
};

}  // namespace poe::collectives
