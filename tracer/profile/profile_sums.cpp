// Sums of profile_sums.hpp.
#include "tracer/profile/profile_sums.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "tracer/profile/flame.hpp"

namespace poe::trace {
namespace {

// Adds up the samples of equal paths first, because names cost more than sums.
template <typename Takes>
std::unordered_map<std::uint32_t, std::uint64_t> counts_of(const StackProfile& profile,
                                                           Takes takes) {
    std::unordered_map<std::uint32_t, std::uint64_t> counts;
    for (const StackSample& sample : profile.samples)
        if (takes(sample)) counts[sample.path] += sample.count;
    return counts;
}

// True for libraries of the system. Their lines are known if debugging packages are installed, and
// say little about a program.
bool of_system(const std::string& object) {
    return object.starts_with("/lib") || object.starts_with("/usr/lib");
}

// The innermost place of a path whose source line is known, outside of the system's libraries. If
// there is none, the innermost place.
std::uint32_t place_of(const StackProfile& profile, std::uint32_t path, Symbols& symbols) {
    for (std::uint32_t at = path; at != 0; at = profile.paths[at].caller) {
        const Site& site = profile.sites[profile.paths[at].site];
        if (!of_system(site.object) && !symbols.line_of(site).file.empty())
            return profile.paths[at].site;
    }
    return profile.paths[path].site;
}

std::vector<FunctionSum> functions_of(const StackProfile& profile, Symbols& symbols) {
    std::map<std::string, FunctionSum> sums;
    for (const auto& [path, count] :
         counts_of(profile, [](const StackSample& s) { return !s.waiting(); })) {
        std::set<std::string> seen;
        bool innermost = true;
        for (std::uint32_t at = path; at != 0; at = profile.paths[at].caller) {
            const std::string name = function_name(profile.sites[profile.paths[at].site], symbols);
            FunctionSum& sum = sums[name];
            if (innermost) sum.self += count;
            innermost = false;
            if (seen.insert(name).second) sum.total += count;
        }
    }
    std::vector<FunctionSum> functions;
    for (auto& [name, sum] : sums) {
        sum.name = name;
        functions.push_back(std::move(sum));
    }
    std::stable_sort(functions.begin(), functions.end(),
                     [](const FunctionSum& a, const FunctionSum& b) {
                         return a.self != b.self ? a.self > b.self : a.total > b.total;
                     });
    return functions;
}

std::vector<LineSum> lines_of(const StackProfile& profile, Symbols& symbols) {
    std::map<std::tuple<State, bool, std::string>, Time> sums;
    const auto words = [&](std::uint32_t site) {
        const Site& place = profile.sites[site];
        const std::string known = symbols.words_of(place);
        return known.empty() ? function_name(place, symbols) : known;
    };
    for (const State state : {State::kComputing, State::kOther})
        for (const bool waiting : {false, true})
            for (const auto& [path, count] :
                 counts_of(profile, [state, waiting](const StackSample& s) {
                     return s.state == state && s.waiting() == waiting;
                 }))
                sums[{state, waiting, words(place_of(profile, path, symbols))}] +=
                    profile.period * static_cast<std::int64_t>(count);
    for (const CallTime& call : profile.calls)
        if (call.site != Definitions::kNoSite)
            sums[{call.state, false, profile.regions[call.region] + " from " + words(call.site)}] +=
                call.time;
    std::vector<LineSum> lines;
    for (const auto& [where, time] : sums)
        lines.push_back({std::get<0>(where), std::get<1>(where), std::get<2>(where), time});
    std::stable_sort(lines.begin(), lines.end(), [](const LineSum& a, const LineSum& b) {
        return std::tuple(a.state, a.waiting, b.time) < std::tuple(b.state, b.waiting, a.time);
    });
    return lines;
}

std::vector<StackSum> stacks_of(const StackProfile& profile, Symbols& symbols) {
    // By path first, because names cost more than sums; then by names, because calls from several
    // places of a function are one stack.
    std::map<std::tuple<TaskId, std::uint32_t, bool, std::uint32_t>, std::uint64_t> by_path;
    for (const StackSample& sample : profile.samples)
        by_path[{sample.task, sample.phase, sample.waiting(), sample.path}] += sample.count;
    std::map<std::tuple<TaskId, std::string, bool, std::vector<std::string>>, std::uint64_t> sums;
    for (const auto& [key, count] : by_path) {
        const auto& [task, phase, waiting, path] = key;
        std::vector<std::string> functions;
        for (std::uint32_t at = path; at != 0; at = profile.paths[at].caller)
            functions.push_back(function_name(profile.sites[profile.paths[at].site], symbols));
        std::reverse(functions.begin(), functions.end());
        const bool known = phase != 0 && phase < profile.regions.size();
        sums[{task, known ? profile.regions[phase] : "", waiting, std::move(functions)}] += count;
    }
    std::vector<StackSum> stacks;
    for (const auto& [key, count] : sums)
        stacks.push_back(
            {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), count});
    std::stable_sort(stacks.begin(), stacks.end(), [](const StackSum& a, const StackSum& b) {
        return std::tie(a.task, a.phase, a.waiting, b.samples) <
               std::tie(b.task, b.phase, b.waiting, a.samples);
    });
    return stacks;
}

}  // namespace

ProfileSums sum_profile(const StackProfile& profile, Symbols& symbols) {
    ProfileSums sums;
    for (const StackSample& sample : profile.samples) {
        (sample.waiting() ? sums.waiting : sums.samples) += sample.count;
        sums.cut += (sample.flags & kSampleCut) != 0 ? 1 : 0;
        sums.in_kernel += (sample.flags & kSampleInKernel) != 0 ? 1 : 0;
    }
    if (!profile.sampled()) return sums;
    sums.functions = functions_of(profile, symbols);
    sums.lines = lines_of(profile, symbols);
    sums.stacks = stacks_of(profile, symbols);
    return sums;
}

}  // namespace poe::trace
