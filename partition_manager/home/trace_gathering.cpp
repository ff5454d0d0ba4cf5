// See trace_gathering.hpp.
#include "partition_manager/home/trace_gathering.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {

namespace {

using trace::StreamKind;

// Returns the properties of the job that readers need. Invalid UTF-8 in names is replaced.
std::string job_json(const JobSpec& job, const TraceSpec& spec) {
    nlohmann::json tasks = nlohmann::json::array();
    for (const TaskSpec& task : job.tasks)
        tasks.push_back({{"node", task.node}, {"program", job.commands[task.command].front()}});
    const nlohmann::json json = {{"program", job.commands.front().front()},
                                 {"job", job.id},
                                 {"level", spec.level},
                                 {"nodes", job.nodes},
                                 {"tasks", std::move(tasks)}};
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

TraceGathering::TraceGathering(const JobSpec& job, TraceSpec trace)
    : job_(job),
      spec_(std::move(trace)),
      done_(job.nodes.size(), false),
      open_nodes_(job.nodes.size()),
      spoiled_(job.nodes.size(), false) {
    if (::mkdir(spec_.directory.c_str(), 0700) != 0)
        throw_errno("cannot make the directory " + spec_.directory + " for the trace");
    trace::StreamHeader header;
    header.tasks = static_cast<std::int32_t>(job.tasks.size());
    header.level = spec_.level;
    trace::set_text(header.job, job.id);
    trace::set_text(header.program, job.commands.front().front());
    header.origin = trace::monotonic_ns();
    header.wall = trace::wall_ns();
    trace::create_job_stream(spec_.directory + "/" + trace::stream_name(StreamKind::kJob, 0),
                             header, job_json(job, spec_));
}

TraceGathering::~TraceGathering() {
    if (!keep_) remove_tree(spec_.directory);
}

// Returns the node whose stream the frame belongs to; done_.size() if there is no such stream.
std::size_t TraceGathering::node_of(const Frame& frame) const {
    const auto number = static_cast<std::size_t>(frame.task);
    if (frame.task < 0) return done_.size();
    if (frame.flags == static_cast<std::uint8_t>(StreamKind::kNode) ||
        frame.flags == static_cast<std::uint8_t>(StreamKind::kSamples))
        return number;
    if (frame.flags == static_cast<std::uint8_t>(StreamKind::kTask) && number < job_.tasks.size())
        return static_cast<std::size_t>(job_.tasks[number].node);
    return done_.size();
}

void TraceGathering::on_frame(const Frame& frame) {
    const std::size_t node = node_of(frame);
    if (node >= done_.size() || done_[node] || spoiled_[node]) return;
    try {
        append(frame);
    } catch (const Error& error) {
        spoiled_[node] = true;
        if (trouble_.empty()) trouble_ = error.what();
    }
}

void TraceGathering::append(const Frame& frame) {
    const std::string name = trace::stream_name(static_cast<StreamKind>(frame.flags), frame.task);
    if (frame.payload.empty()) {
        files_.erase(name);
        return;
    }
    UniqueFd& file = files_[name];
    const std::string path = spec_.directory + "/" + name;
    if (!file) {
        file.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file) throw_errno("cannot make " + path);
    }
    std::string_view rest = frame.payload;
    while (!rest.empty()) {
        const ssize_t count = ::write(file.get(), rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw_errno("cannot write " + path);
        rest.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::optional<TraceTaken> TraceGathering::on_done(NodeIndex node, const TraceDone& done) {
    const auto place = static_cast<std::size_t>(node);
    if (node < 0 || place >= done_.size() || done.generation != spec_.generation)
        return std::nullopt;
    if (!done.left.empty()) left_.push_back(done.left);
    // A daemon that is asked to keep its streams reports their place in another message.
    if (done.sent && spoiled_[place]) return TraceTaken{spec_.generation, false};
    on_lost(node);
    if (!done.sent) return std::nullopt;
    return TraceTaken{spec_.generation, true};
}

void TraceGathering::on_lost(NodeIndex node) {
    const auto place = static_cast<std::size_t>(node);
    if (node < 0 || place >= done_.size() || done_[place]) return;
    done_[place] = true;
    --open_nodes_;
}

}  // namespace poe::pm
