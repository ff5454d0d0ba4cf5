// Implementation of trace_source.hpp.
#include "tracer/read/trace_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sys/stat.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace poe::trace {
namespace {

// No job has more tasks; a larger number is damage.
constexpr TaskId kMostTasks = 1 << 17;
// Releases memory this often, because looking at a stream maps much of the file around it.
constexpr std::uint32_t kBetweenForgetting = 64;
constexpr std::uint64_t kHashPrime = 0x100000001b3;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    return (hash ^ value ^ value >> 29) * kHashPrime;
}

// Nothing was recorded after the last write to the file, unless clocks were set meanwhile.
std::optional<std::uint64_t> latest_of(const Stream& stream, const struct stat& about) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    constexpr std::uint64_t kDoubt = 3600 * kSecond;
    const std::uint64_t written = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * kSecond;
    if (stream.open || stream.wall == 0 || written < stream.wall) return std::nullopt;
    return written - stream.wall + kDoubt;
}

std::vector<std::string> files_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_directory(path, error)) return {path};
    std::vector<std::string> files;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it->is_regular_file(ignored)) files.push_back(it->path().string());
    }
    if (error) throw Error("cannot read the folder " + path, error.value());
    std::sort(files.begin(), files.end());
    return files;
}

// The home node measures itself with a result of zero. In traces of other tools it has no
// measurements.
NodeIndex home_of(const std::map<NodeIndex, std::vector<ClockFit::Sample>>& samples,
                  const std::map<NodeIndex, std::uint64_t>& nodes) {
    for (const auto& [node, all] : samples)
        if (std::all_of(all.begin(), all.end(), [](const ClockFit::Sample& sample) {
                return sample.round_trip == 0 && sample.offset == 0;
            }))
            return node;
    for (const auto& [node, wall] : nodes)
        if (!samples.contains(node)) return node;
    return nodes.begin()->first;
}

bool begins_like_a_trace(std::span<const std::byte> bytes) {
    return bytes.size() >= kHeaderBytes &&
           std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace

TraceSource TraceSource::open(const std::string& path, const TraceSource* before, Checks checks) {
    TraceSource source;
    FoundStreams found;
    const std::vector<std::string> paths = files_of(path);
    const bool folder = std::filesystem::is_directory(path);
    std::uint64_t identity = kVersion;
    bool looks_right = false;
    for (const std::string& file : paths) {
        // A folder may contain more files than a process may have open.
        MappedFile mapped(file, !folder);
        looks_right |= begins_like_a_trace(mapped.bytes());
        if (folder && !begins_like_a_trace(mapped.bytes())) continue;
        struct stat about {};
        if (::stat(file.c_str(), &about) == 0) {
            identity = mixed(identity, static_cast<std::uint64_t>(about.st_size));
            identity = mixed(identity, static_cast<std::uint64_t>(about.st_mtim.tv_sec));
            identity = mixed(identity, static_cast<std::uint64_t>(about.st_mtim.tv_nsec));
        }
        const std::string name = std::filesystem::path(file).filename().string();
        const std::size_t known = found.streams.size();
        find_streams(mapped.bytes(), name, found);
        for (std::size_t i = known; i < found.streams.size(); ++i) {
            Stream& stream = found.streams[i];
            const auto* at = reinterpret_cast<const std::byte*>(stream.slots.data());
            stream.file = mapped.file();
            stream.slots_at = static_cast<std::uint64_t>(at - mapped.bytes().data());
            if (stream.sums.empty()) stream.latest = latest_of(stream, about);
            // Traces of several jobs would be shown as a single job that never existed.
            const std::string& job = found.streams.front().job;
            if (!job.empty() && !stream.job.empty() && job != stream.job)
                throw Error("cannot play " + path +
                            ": there are traces of several jobs in it; choose one, as in `vt " +
                            file + "`");
        }
        source.size_ += mapped.bytes().size();
        source.files_.push_back(std::move(mapped));
    }
    if (found.streams.empty()) {
        std::string why = folder ? "no file in it is a part of a trace" : "it is not a trace";
        if (looks_right && !found.problems.empty())
            why = found.problems.front();
        else
            why += " (poe -tracelevel writes traces; an archive of OTF2 is named NAME.otf2)";
        throw Error("cannot play " + path + ": " + why);
    }
    source.identity_ = identity;
    source.begin_with(std::move(found), before, checks);
    return source;
}

TraceSource TraceSource::from_bytes(std::string_view bytes, const std::string& name) {
    TraceSource source;
    const std::size_t size = (bytes.size() + 63) / 64 * 64;
    source.memory_ = {std::aligned_alloc(64, std::max<std::size_t>(size, 64)), std::free};
    std::memcpy(source.memory_.get(), bytes.data(), bytes.size());
    source.size_ = bytes.size();
    FoundStreams found;
    find_streams({static_cast<const std::byte*>(source.memory_.get()), bytes.size()}, name, found);
    if (found.streams.empty())
        throw Error("cannot play " + name + ": " +
                    (found.problems.empty() ? "it is not a trace" : found.problems.front()));
    source.identity_ = mixed(bytes.size(), std::hash<std::string_view>()(bytes));
    source.begin_with(std::move(found), nullptr, Checks::kNow);
    return source;
}

void TraceSource::begin_with(FoundStreams found, const TraceSource* before, Checks checks) {
    problems_ = std::move(found.problems);
    for (Stream& stream : found.streams) {
        const bool of_task = stream.kind == StreamKind::kTask;
        if (of_task && (stream.task < 0 || stream.task >= kMostTasks)) {
            problems_.push_back(fmt::format("a stream of task {} is left out", stream.task));
            continue;
        }
        if (!of_task) stream.task = -1;
        stream.node = std::clamp(stream.node, 0, kMostTasks);
        streams_.push_back(std::move(stream));
    }
    if (streams_.empty()) throw Error("cannot play this trace: " + problems_.back());
    for (const Stream& stream : streams_) {
        open_ended_ |= stream.open;
        identity_ = mixed(identity_, stream.end);
    }
    learn_facts(found.job);
    fit_clocks(before);
    find_ends();
    if (checks == Checks::kNow) check();
}

void TraceSource::check() {
    // The memory of the mapped files is released regularly.
    constexpr std::size_t kMostHeld = std::size_t{32} << 20;
    std::size_t held = 0;
    for (Stream& stream : streams_)
        stream.find_damage([&](std::size_t bytes) {
            held += bytes;
            if (held < kMostHeld) return;
            forget();
            held = 0;
        });
    tell_damage();
}

void TraceSource::tell_damage() {
    bool any = false;
    for (const Stream& stream : streams_) {
        const auto count = std::count(stream.damaged.begin(), stream.damaged.end(), true);
        if (count == 0) continue;
        any = true;
        problems_.push_back(fmt::format(
            "{} of {} blocks of {} are damaged; their records are shown as far as they can be true",
            count, stream.sums.size(), stream.name()));
    }
    // Measurements of clocks, and the last records, may be in damaged blocks.
    if (any && !fits_.empty()) {
        fits_.clear();
        clock_doubts_.clear();
        measured_.clear();
        fit_clocks(nullptr);
        find_ends();
    }
}

Findings TraceSource::findings() const {
    Findings findings;
    for (const Stream& stream : streams_) findings.damaged.push_back(stream.damaged);
    findings.repaired = repaired_;
    findings.clocks = better_clocks_;
    findings.doubts = clock_doubts_;
    findings.moves = moves_;
    return findings;
}

bool TraceSource::take(const Findings& findings) {
    if (findings.damaged.size() != streams_.size()) return false;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (!findings.damaged[i].empty() && findings.damaged[i].size() != streams_[i].sums.size())
            return false;
    for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i].damaged = findings.damaged[i];
    tell_damage();
    if (!findings.repaired) return true;
    repaired_ = findings.repaired;
    set_clocks(findings.clocks, findings.doubts);
    for (std::size_t i = 0; i < streams_.size(); ++i) moves_[i] = findings.moves[i];
    find_ends();
    return true;
}

void TraceSource::learn_facts(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto word = [&json](const char* key) {
        const bool there = json.is_object() && json.contains(key) && json[key].is_string();
        return there ? json[key].get<std::string>() : std::string();
    };
    facts_.program = word("program");
    facts_.job = word("job");
    std::map<NodeIndex, std::string> names;
    std::vector<bool> has_stream;
    for (const Stream& stream : streams_) {
        facts_.level = std::max(facts_.level, stream.level);
        facts_.tasks = std::max(facts_.tasks, stream.task + 1);
        if (stream.tasks > 0 && stream.tasks <= kMostTasks)
            facts_.tasks = std::max(facts_.tasks, stream.tasks);
        if (!stream.node_name.empty()) names.emplace(stream.node, stream.node_name);
        if (facts_.program.empty()) facts_.program = stream.program;
        if (facts_.job.empty()) facts_.job = stream.job;
    }
    facts_.names.resize(static_cast<std::size_t>(facts_.tasks));
    facts_.devices.resize(static_cast<std::size_t>(facts_.tasks));
    if (json.is_object() && json.contains("tasks") && json["tasks"].is_array())
        for (std::size_t task = 0; task < std::min(json["tasks"].size(), facts_.names.size());
             ++task) {
            const auto& one = json["tasks"][task];
            if (!one.is_object()) continue;
            if (one.contains("name") && one["name"].is_string())
                facts_.names[task] = one["name"].get<std::string>();
            facts_.devices[task] = one.contains("device") && one["device"] == true;
        }
    // Without its directories, as people write it.
    facts_.program = std::filesystem::path(facts_.program).filename().string();
    facts_.node_of.assign(static_cast<std::size_t>(facts_.tasks), 0);
    has_stream.assign(static_cast<std::size_t>(facts_.tasks), false);
    for (const Stream& stream : streams_) {
        if (stream.task < 0) continue;
        facts_.node_of[static_cast<std::size_t>(stream.task)] = stream.node;
        has_stream[static_cast<std::size_t>(stream.task)] = true;
    }
    for (const auto& [node, name] : names) {
        if (facts_.nodes.size() <= static_cast<std::size_t>(node))
            facts_.nodes.resize(static_cast<std::size_t>(node) + 1);
        facts_.nodes[static_cast<std::size_t>(node)] = name;
    }
    const auto missing = std::count(has_stream.begin(), has_stream.end(), false);
    const auto first = std::find(has_stream.begin(), has_stream.end(), false) - has_stream.begin();
    if (missing > 0)
        problems_.push_back(fmt::format("{} of {} tasks have no stream, the first is task {}",
                                        missing, facts_.tasks, first));
    if (json.is_discarded() && text.empty())
        problems_.emplace_back("the stream that names the job is missing");
}

std::vector<ClockFit::Sample> TraceSource::measurements(std::uint32_t number,
                                                        const TraceSource* before) {
    const Stream& stream = streams_[number];
    ClockWalk walk{{stream.first, 0}, {}};
    if (before != nullptr && number < before->streams_.size() &&
        stream.continues(before->streams_[number]))
        walk = before->clocks_[number];
    std::vector<ClockFit::Sample> samples = walk.samples;
    std::size_t sure = samples.size();
    Cursor cursor(stream, walk.at);
    for (const Record* record = cursor.next();; record = cursor.next()) {
        if (record != nullptr) ++clock_records_read_;
        if (record != nullptr && record->kind == Kind::kClock && !cursor.doubtful())
            samples.push_back(
                {stream.origin + cursor.time(), static_cast<std::int64_t>(record->b), record->a});
        // A hole may become a record, so the next pass starts before the first hole.
        if (cursor.holes() == 0) {
            walk.at = cursor.position();
            sure = samples.size();
        }
        if (record == nullptr) break;
    }
    walk.samples.assign(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(sure));
    clocks_[number] = std::move(walk);
    return samples;
}

void TraceSource::fit_clocks(const TraceSource* before) {
    clocks_.resize(streams_.size());
    std::map<NodeIndex, std::vector<ClockFit::Sample>> samples;
    std::map<NodeIndex, std::uint64_t> wall_of;  // wall clock at monotonic time 0
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        const Stream& stream = streams_[i];
        wall_of.emplace(stream.node, stream.wall - stream.origin);
        if (stream.kind != StreamKind::kNode) continue;
        const auto measured = measurements(i, before);
        if (measured.empty()) continue;
        auto& all = samples[stream.node];
        all.insert(all.end(), measured.begin(), measured.end());
    }
    home_ = home_of(samples, wall_of);
    std::map<NodeIndex, ClockFit> fits;
    for (const auto& [node, wall] : wall_of) {
        std::optional<Time> within;
        if (const auto measured = samples.find(node); measured != samples.end()) {
            fits[node] = ClockFit::through(measured->second);
            measured_.insert(node);
            within = Time(static_cast<std::int64_t>(fits[node].doubt()));
        }
        if (node != home_) clock_doubts_.push_back({node, within});
        if (within) continue;
        if (node != home_ && wall != wall_of[home_]) {
            fits[node] = ClockFit::constant(static_cast<std::int64_t>(wall_of[home_] - wall));
            problems_.push_back(fmt::format(
                "the clock of node {} was not measured: its times are by its wall clock", node));
        }
    }
    for (const Stream& stream : streams_) fits_.push_back(fits[stream.node]);
    moves_.resize(streams_.size());
}

std::string TraceSource::node_name(NodeIndex node) const {
    const auto place = static_cast<std::size_t>(node);
    const bool named = place < facts_.nodes.size() && !facts_.nodes[place].empty();
    return named ? facts_.nodes[place] : fmt::format("node {}", node);
}

ClockFit TraceSource::clock(NodeIndex node) const {
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (streams_[i].node == node) return fits_[i];
    return {};
}

std::uint64_t TraceSource::node_time(NodeIndex node, Time moment) const {
    const ClockFit fit = clock(node);
    const std::uint64_t home = base_ + static_cast<std::uint64_t>(moment.count());
    // The offset changes by far less than the time, so a few steps are enough.
    std::uint64_t time = home;
    for (int step = 0; step < 3; ++step) time += home - fit.home(time);
    return time;
}

void TraceSource::set_clocks(const std::map<NodeIndex, ClockFit>& clocks,
                             std::vector<ClockDoubt> doubts) {
    for (std::size_t i = 0; i < streams_.size(); ++i)
        if (const auto fit = clocks.find(streams_[i].node); fit != clocks.end())
            fits_[i] = fit->second;
    clock_doubts_ = std::move(doubts);
    better_clocks_ = clocks;
    find_ends();
}

void TraceSource::find_ends() {
    std::vector<std::uint64_t> origins;
    for (std::size_t i = 0; i < streams_.size(); ++i)
        origins.push_back(fits_[i].home(streams_[i].origin));
    // Uses signed distances from one origin, because clocks may have any magnitude.
    base_ = origins.front();
    std::uint64_t earliest = base_;
    for (const std::uint64_t origin : origins)
        if (static_cast<std::int64_t>(origin - base_) < static_cast<std::int64_t>(earliest - base_))
            earliest = origin;
    base_ = earliest;
    bool any = false;
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        const Stream& stream = streams_[i];
        if (i % kBetweenForgetting == 0) forget();
        Cursor first(stream);
        if (first.next() == nullptr) continue;
        const Time from = time_of(i, first.time());
        // Finds the last complete record, searching backwards; its time is unwrapped relative to
        // the first record.
        Time to = from;
        for (std::uint64_t last = stream.last_place(stream.end); last > first.number();
             last = stream.last_place(last)) {
            if (!stream.has(last)) continue;
            Cursor end(stream, {last, first.time()});
            if (end.next() == nullptr) continue;
            // The record may be a whole call, which has two times.
            do {
                to = time_of(i, end.time());
            } while (end.next() != nullptr);
            break;
        }
        begin_ = any ? std::min(begin_, from) : from;
        end_ = any ? std::max(end_, to) : to;
        any = true;
    }
    if (!any) problems_.emplace_back("there are no records");
    end_ = std::max(begin_, end_);
    forget();
}

Time TraceSource::time_of(std::uint32_t stream, std::uint64_t time) const noexcept {
    const std::uint64_t home = fits_[stream].home(streams_[stream].origin + time);
    const Time plain =
        std::clamp(Time(static_cast<std::int64_t>(home - base_)), -kFarthest, kFarthest);
    const std::map<Time, Time>& moves = moves_[stream];
    if (moves.empty()) return plain;
    const auto after = moves.upper_bound(plain);
    return after == moves.begin() ? plain : std::min(plain + std::prev(after)->second, kFarthest);
}

std::optional<Time> TraceSource::same_until(const TraceSource& before) const {
    if (streams_.size() != before.streams_.size() || facts_.tasks != before.facts_.tasks ||
        base_ != before.base_ || begin_ != before.begin_)
        return std::nullopt;
    Time until = kFarthest;
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        if (!streams_[i].continues(before.streams_[i])) return std::nullopt;
        const auto agrees = fits_[i].agrees_until(before.fits_[i]);
        if (!agrees) return std::nullopt;
        if (*agrees != std::numeric_limits<std::uint64_t>::max())
            until = std::min(until, time_of(i, *agrees - streams_[i].origin));
    }
    return until;
}

void TraceSource::move_forward(std::uint32_t stream, Time from, Time by) {
    std::map<Time, Time>& moves = moves_[stream];
    const auto after = moves.upper_bound(from);
    const Time before = after == moves.begin() ? Time{0} : std::prev(after)->second;
    moves.try_emplace(from, before);
    for (auto at = moves.find(from); at != moves.end(); ++at) at->second += by;
}

Time TraceSource::before_repair(std::uint32_t stream, Time moment) const noexcept {
    const std::map<Time, Time>& moves = moves_[stream];
    for (auto at = moves.rbegin(); at != moves.rend(); ++at)
        if (moment >= at->first + at->second) return moment - at->second;
    return moment;
}

void TraceSource::set_repaired(const Repaired& repaired) {
    repaired_ = repaired;
    find_ends();
}

Time TraceSource::farthest_move() const noexcept {
    Time most{0};
    for (const auto& moves : moves_)
        if (!moves.empty()) most = std::max(most, moves.rbegin()->second);
    return most;
}

std::uint64_t TraceSource::records() const {
    std::uint64_t sum = 0;
    for (const Stream& stream : streams_) sum += stream.places();
    return sum;
}

Bytes TraceSource::size() const {
    return size_;
}

void TraceSource::forget() const noexcept {
    for (const MappedFile& file : files_) file.forget();
}

}  // namespace poe::trace
