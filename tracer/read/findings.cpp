// Implementation of findings.hpp.
#include "tracer/read/findings.hpp"

#include <algorithm>

namespace poe::trace {
namespace {

Time time_of(Unpacker& in) {
    return std::clamp(in.time(), -kFarthest, kFarthest);
}

std::optional<ClockFit> clock_of(Unpacker& in) {
    std::vector<ClockFit::Sample> points;
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const std::uint64_t time = in.number();
        if (!points.empty() && time <= points.back().time) return std::nullopt;
        points.push_back({time, in.time().count(), 0});
    }
    return ClockFit::of_points(std::move(points));
}

}  // namespace

void pack(Packer& out, const Findings& findings) {
    out.number(findings.damaged.size());
    for (const std::vector<bool>& blocks : findings.damaged) {
        out.number(blocks.size());
        for (const bool bad : blocks) out.number(bad ? 1 : 0);
    }
    out.number(findings.repaired ? 1 : 0);
    if (!findings.repaired) return;
    out.number(findings.repaired->messages);
    out.time(findings.repaired->farthest);
    out.number(findings.repaired->all ? 1 : 0);
    out.number(findings.clocks.size());
    for (const auto& [node, fit] : findings.clocks) {
        out.number(static_cast<std::uint64_t>(node));
        out.number(fit.points().size());
        for (const ClockFit::Sample& point : fit.points()) {
            out.number(point.time);
            out.time(Time(point.offset));
        }
    }
    out.number(findings.doubts.size());
    for (const ClockDoubt& doubt : findings.doubts) {
        out.number(static_cast<std::uint64_t>(doubt.node));
        out.time(doubt.within.value_or(Time{-1}));
    }
    out.number(findings.moves.size());
    for (const std::map<Time, Time>& moves : findings.moves) {
        out.number(moves.size());
        for (const auto& [from, by] : moves) {
            out.time(from);
            out.time(by);
        }
    }
}

std::optional<Findings> unpack_findings(std::span<const std::byte> bytes, std::size_t streams) {
    Unpacker in(bytes);
    Findings findings;
    findings.damaged.resize(streams);
    if (in.count() != streams) return std::nullopt;
    for (std::vector<bool>& blocks : findings.damaged)
        for (std::size_t left = in.count(); left > 0 && in.fine(); --left)
            blocks.push_back(in.number() != 0);
    if (in.number() == 0) return in.fine() ? std::optional(findings) : std::nullopt;
    findings.repaired.emplace();
    findings.repaired->messages = in.number();
    findings.repaired->farthest = time_of(in);
    findings.repaired->all = in.number() != 0;
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const auto node = static_cast<NodeIndex>(in.number());
        auto fit = clock_of(in);
        if (!fit) return std::nullopt;
        findings.clocks[node] = std::move(*fit);
    }
    for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
        const auto node = static_cast<NodeIndex>(in.number());
        const Time within = time_of(in);
        findings.doubts.push_back({node, within < Time{0} ? std::nullopt : std::optional(within)});
    }
    findings.moves.resize(streams);
    if (in.count() != streams) return std::nullopt;
    for (std::map<Time, Time>& moves : findings.moves)
        for (std::size_t left = in.count(); left > 0 && in.fine(); --left) {
            const Time from = time_of(in);
            moves[from] = time_of(in);
        }
    return in.fine() ? std::optional(findings) : std::nullopt;
}

}  // namespace poe::trace
