// Implementation of flame.hpp.
#include "tracer/profile/flame.hpp"

#include <algorithm>
#include <unordered_map>

namespace poe::trace {
namespace {

FlameNode& callee_of(FlameNode& node, const std::string& name) {
    for (FlameNode& callee : node.callees)
        if (callee.name == name) return callee;
    node.callees.push_back({.name = name});
    return node.callees.back();
}

void sort_callees(FlameNode& node) {
    std::stable_sort(node.callees.begin(), node.callees.end(),
                     [](const FlameNode& a, const FlameNode& b) {
                         return a.samples != b.samples ? a.samples > b.samples : a.name < b.name;
                     });
    for (FlameNode& callee : node.callees) sort_callees(callee);
}

}  // namespace

bool SampleFilter::takes(const StackSample& sample, const StackProfile& profile) const {
    if (waiting != sample.waiting()) return false;
    if (!tasks.empty() && !tasks.contains(sample.task)) return false;
    if (window && (sample.at < window->from || sample.at > window->to)) return false;
    if (state && *state != sample.state) return false;
    return phase.empty() || (sample.phase != 0 && sample.phase < profile.regions.size() &&
                             profile.regions[sample.phase] == phase);
}

FlameNode make_flame(const StackProfile& profile, const SampleFilter& filter, Symbols& symbols) {
    std::unordered_map<std::uint32_t, std::uint64_t> counts;  // by path
    for (const StackSample& sample : profile.samples)
        if (filter.takes(sample, profile)) counts[sample.path] += sample.count;
    FlameNode root{.name = "all"};
    std::vector<std::string> names;
    for (const auto& [path, count] : counts) {
        names.clear();
        // A caller has a smaller number than what it calls, so this ends.
        for (std::uint32_t at = path; at != 0; at = profile.paths[at].caller)
            names.push_back(function_name(profile.sites[profile.paths[at].site], symbols));
        FlameNode* node = &root;
        node->samples += count;
        for (auto name = names.rbegin(); name != names.rend(); ++name) {
            node = &callee_of(*node, *name);
            node->samples += count;
        }
        node->self += count;
    }
    sort_callees(root);
    return root;
}

namespace {

void fold(const FlameNode& node, const std::string& callers, std::string& out) {
    std::string name = node.name;
    std::replace(name.begin(), name.end(), ';', ':');
    const std::string path = callers.empty() ? name : callers + ';' + name;
    if (node.self > 0) out += path + ' ' + std::to_string(node.self) + '\n';
    for (const FlameNode& callee : node.callees) fold(callee, path, out);
}

}  // namespace

std::string folded_stacks(const FlameNode& root) {
    std::string out;
    for (const FlameNode& node : root.callees) fold(node, "", out);
    return out;
}

}  // namespace poe::trace
