// Implementation of flame_layout.hpp.
#include "tracer/playback/flame_layout.hpp"

#include <fmt/format.h>

namespace poe::trace {
namespace {

struct Placing {
    std::vector<FlameBox>& boxes;
    double all;
    double narrowest;

    void place(const FlameNode& node, int depth, double from) const {
        const double width = static_cast<double>(node.samples) / all;
        if (width < narrowest) return;
        boxes.push_back({depth, from, from + width, node.name, node.samples, node.self});
        for (const FlameNode& callee : node.callees) {
            place(callee, depth + 1, from);
            from += static_cast<double>(callee.samples) / all;
        }
    }
};

}  // namespace

std::vector<FlameBox> flame_boxes(const FlameNode& root, double narrowest) {
    std::vector<FlameBox> boxes;
    if (root.samples > 0)
        Placing{boxes, static_cast<double>(root.samples), narrowest}.place(root, 0, 0);
    return boxes;
}

SampleFilter flame_filter(const ViewState& look, const Session& session) {
    SampleFilter filter;
    filter.tasks = look.flame_tasks;
    filter.state = look.flame_state;
    filter.phase = look.flame_phase;
    filter.waiting = look.flame_waiting;
    const Stretch stretch = stretch_of(look, session);
    if (!(stretch == session.whole())) filter.window = stretch;
    return filter;
}

std::string flame_words(const ViewState& look) {
    std::string words = "of all tasks";
    if (!look.flame_tasks.empty()) {
        words = look.flame_tasks.size() == 1 ? "of task" : "of tasks";
        for (const TaskId task : look.flame_tasks)
            words += fmt::format("{} {}", task == *look.flame_tasks.begin() ? "" : ",", task);
    }
    if (look.flame_waiting) words += ", asleep,";
    if (look.flame_state) words += fmt::format(" while {}", state_word(*look.flame_state));
    if (!look.flame_phase.empty()) words += " in phase " + look.flame_phase;
    return words + fmt::format(" {}", sums_words(look));
}

std::string flame_trouble(const StackProfile& profile, const FlameNode& root) {
    if (!profile.sampled()) return "the trace has no call stacks: record it with poe -sample 100";
    if (root.samples == 0) return "no call stack was taken in this selection";
    return {};
}

}  // namespace poe::trace
