// See job_tracing.hpp.
#include "partition_manager/home/job_tracing.hpp"

#include <unistd.h>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/channel/message_codec.hpp"
#include "partition_manager/launch/child_daemons.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {

std::string start_trace_question(const TraceSpec& trace, const std::string& path) {
    return path + '\0' + encode(StartTrace{trace});
}

std::string stop_trace_question() {
    return '\0' + encode(StopTrace{});
}

JobTracing::JobTracing(asio::io_context& loop, JobSpec& job, Handlers handlers)
    : loop_(loop), job_(job), handlers_(std::move(handlers)) {}

JobTracing::~JobTracing() = default;

void JobTracing::begin(const std::string& path) {
    commands_ = std::make_unique<CommandSocket>(loop_, ::getuid(), job_.id,
                                                [this](const std::string& question, Answer answer) {
                                                    on_question(question, std::move(answer));
                                                });
    if (job_.trace.level == 0) return;
    path_ = path;
    try {
        trace_ = std::make_unique<TraceGathering>(job_, job_.trace);
    } catch (const Error& error) {
        job_.trace.level = 0;
        if (handlers_.on_attention)
            handlers_.on_attention(std::string("the job will not be traced: ") + error.what());
    }
}

void JobTracing::on_question(const std::string& question, Answer answer) {
    const std::size_t zero = question.find('\0');
    if (zero == std::string::npos) return;
    const auto message = decode(std::string_view(question).substr(zero + 1));
    if (!message) return answer("-this is another version of poe");
    if (const auto* ask = std::get_if<StartTrace>(&*message))
        answer(start(ask->trace, question.substr(0, zero)));
    else if (std::get_if<StopTrace>(&*message))
        stop(std::move(answer));
}

std::string JobTracing::start(TraceSpec spec, const std::string& path) {
    if (!handlers_.tasks_run()) return "-the tasks of the job do not run";
    if (trace_ || merging_)
        return "-the job is being traced already (end that with: poe -trace stop " + job_.id + ")";
    spec.generation = job_.trace.generation + 1;
    try {
        trace_ = std::make_unique<TraceGathering>(job_, spec);
    } catch (const Error& error) {
        return std::string("-") + error.what();
    }
    trace_->keep();
    job_.trace = std::move(spec);
    path_ = path;
    handlers_.send(StartTrace{job_.trace}, kAllNodes);
    return "+";
}

void JobTracing::stop(Answer answer) {
    if (!trace_ || stopped_ || !trace_->kept()) return answer("-the job is not being traced");
    stopped_ = std::move(answer);
    handlers_.send(StopTrace{job_.trace.generation}, kAllNodes);
}

void JobTracing::on_started() {
    if (trace_) trace_->keep();
}

void JobTracing::on_frame(const Frame& frame) {
    if (trace_) trace_->on_frame(frame);
}

void JobTracing::on_lost(NodeIndex node) {
    if (trace_) trace_->on_lost(node);
}

void JobTracing::on_done(NodeIndex from, const TraceDone& done) {
    if (trace_)
        if (const auto answer = trace_->on_done(from, done)) handlers_.send(*answer, from);
    merge_stopped();
}

// The merge runs on a thread, so the tasks and the event loop continue meanwhile.
void JobTracing::merge_stopped() {
    if (!trace_ || !stopped_ || !trace_->complete() || merging_) return;
    merging_ = true;
    merger_ = std::thread([this] {
        std::string words = handlers_.merge(*trace_, path_);
        asio::post(loop_, [this, words = std::move(words)] { on_merged(words); });
    });
}

void JobTracing::on_merged(const std::string& words) {
    merger_.join();
    merging_ = false;
    trace_.reset();
    std::exchange(stopped_, nullptr)("+" + words);
}

void JobTracing::finish() {
    if (merging_) loop_.restart();
    while (merging_) loop_.run_one();
    if (trace_ && !trace_->kept()) trace_.reset();  // no task was started, so it is empty
}

}  // namespace poe::pm
