// A keyframe: the complete state of a replay at one moment, as bytes, so that it can continue.
#pragma once

#include <optional>

#include "tracer/analysis/replay.hpp"
#include "tracer/read/event_merge.hpp"
#include "tracer/read/packing.hpp"

namespace poe::trace {

struct Keyframe {
    EventMerge::Positions positions;
    JobState state;
    std::vector<Message> sends;  // receive not seen yet
    std::vector<Message> receives;
    std::unordered_map<std::uint64_t, Meeting> meetings;
};

void pack(Packer& out, const EventMerge& merge, const Replay& replay);
// Empty if the bytes are not a keyframe of a job with this many tasks and streams.
std::optional<Keyframe> unpack_keyframe(std::span<const std::byte> bytes, std::size_t tasks,
                                        std::size_t streams);

void pack(Packer& out, const Definitions& definitions);
std::optional<Definitions::Tables> unpack_definitions(std::span<const std::byte> bytes);

}  // namespace poe::trace
