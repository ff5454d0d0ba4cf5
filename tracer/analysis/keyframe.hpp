// A keyframe: all that a replay knows at one moment, as bytes, so that it can go on from there.
#pragma once

#include <optional>

#include "tracer/analysis/replay.hpp"
#include "tracer/read/event_merge.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {

struct Keyframe {
    EventMerge::Positions positions;
    JobState state;
    std::vector<Message> sends;  // without their receives, as yet
    std::vector<Message> receives;
    std::unordered_map<std::uint64_t, Meeting> meetings;
};

void pack(Packer& out, const EventMerge& merge, const Replay& replay);
// Nothing when the bytes are no keyframe of a job of so many tasks and streams.
std::optional<Keyframe> unpack_keyframe(std::span<const std::byte> bytes, std::size_t tasks,
                                        std::size_t streams);

void pack(Packer& out, const Definitions& definitions);
std::optional<Definitions::Tables> unpack_definitions(std::span<const std::byte> bytes);

}  // namespace poe::trace
