// PipelineSegment: the memory that the members of a group share for long calls. It has one part for
// each kind of long call, in the group's common piece of the node segment; a part is reserved when
// the first such call is made. It is separate from ShmGroup, which finds out whether all
// members have it.
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

    // For member `me` of `members`, in common piece `piece`, which is mapped at `mapped`. All
    // referenced objects must outlive this object.
    PipelineSegment(const NodeSegment& segment, std::uint32_t piece, std::byte* mapped,
                    std::uint32_t members, std::uint32_t me) noexcept
        : segment_(segment), piece_(piece), mapped_(mapped), members_(members), me_(me) {}
    // The bytes of all kinds: at most staging_bytes (segment_layout.hpp) of the same or any larger
    // number of members.
    static Bytes bytes_for(std::uint32_t members) noexcept;

    // True if reserve() was called.
    bool asked(Kind kind) const noexcept { return parts_[kind].asked; }
    // Reserves the memory of a kind. Returns what is missing, or an empty text. Does not wait for
    // other members. Every member calls it; memory that another member has already reserved is
    // used.
    std::string reserve(Kind kind);
    // Starts using the memory. Call it when all members have reserved it.
    void use(Kind kind);
    // Null: not all members have the memory.
    GroupSegment* of(Kind kind) noexcept {
        return parts_[kind].segment ? &*parts_[kind].segment : nullptr;
    }
    // Sets all of the memory to zero. Precondition: no member uses it any more.
    void clear() noexcept;

  private:
    struct Part {
        bool asked = false;
        std::optional<GroupSegment> segment;
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
