// The traces of a job, as its poe sees them: from the beginning when -tracelevel says so, and on
// demand (poe -trace). Apart from partition.cpp, which does not know what a trace is.
#include <unistd.h>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/channel/message_codec.hpp"
#include "partition_manager/home/partition.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {

std::string start_trace_question(const TraceSpec& trace, const std::string& path) {
    return path + '\0' + encode(StartTrace{trace});
}

std::string stop_trace_question() {
    return '\0' + encode(StopTrace{});
}

// A job runs without a trace rather than not at all.
void Partition::begin_trace() {
    commands_ = std::make_unique<CommandSocket>(
        loop_, ::getuid(), job_.id, [this](const std::string& question, TraceAnswer answer) {
            on_trace_question(question, std::move(answer));
        });
    if (job_.trace.level == 0) return;
    trace_path_ = options_.trace_path;
    try {
        trace_ = std::make_unique<TraceGathering>(job_, job_.trace);
    } catch (const Error& error) {
        job_.trace.level = 0;
        if (options_.on_attention)
            options_.on_attention(std::string("the job will not be traced: ") + error.what());
    }
}

void Partition::on_trace_question(const std::string& question, TraceAnswer answer) {
    const std::size_t zero = question.find('\0');
    if (zero == std::string::npos) return;
    const auto message = decode(std::string_view(question).substr(zero + 1));
    if (!message) return answer("-this is another version of poe");
    if (const auto* start = std::get_if<StartTrace>(&*message))
        answer(start_trace(start->trace, question.substr(0, zero)));
    else if (std::get_if<StopTrace>(&*message))
        stop_trace(std::move(answer));
}

std::string Partition::start_trace(TraceSpec spec, const std::string& path) {
    if (!started_ || judge_.ending() || branches_->all_over())
        return "-the tasks of the job do not run";
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
    trace_path_ = path;
    branches_->send(StartTrace{job_.trace});
    return "+";
}

void Partition::stop_trace(TraceAnswer answer) {
    if (!trace_ || stopped_trace_ || !started_) return answer("-the job is not being traced");
    stopped_trace_ = std::move(answer);
    branches_->send(StopTrace{job_.trace.generation});
}

// The tasks go on meanwhile, and so does this loop.
void Partition::merge_stopped_trace() {
    if (!trace_ || !stopped_trace_ || !trace_->complete() || merging_) return;
    merging_ = true;
    merger_ = std::thread([this] {
        std::string words = options_.merge_trace(*trace_, trace_path_);
        asio::post(loop_, [this, words = std::move(words)] { on_trace_merged(words); });
    });
}

void Partition::on_trace_merged(const std::string& words) {
    merger_.join();
    merging_ = false;
    trace_.reset();
    std::exchange(stopped_trace_, nullptr)("+" + words);
}

// A merge that is under way when the job has ended is waited for.
void Partition::finish_merging() {
    if (!merging_) return;
    loop_.restart();
    while (merging_) loop_.run_one();
}

// Who interrupts poe when all tasks have ended does not want to wait for the trace: what is still
// on its way stays where it is. False: it is not that which poe waits for.
bool Partition::stop_gathering() {
    if (!trace_ || trace_->complete() || exits_ < job_.tasks.size()) return false;
    branches_->send(EndJob{true});
    return true;
}

bool Partition::on_trace_message(NodeIndex from, const Message& message) {
    if (const auto* clock = std::get_if<ClockAsk>(&message)) {
        branches_->send(ClockTell{clock->asked, trace::monotonic_ns()}, from);
        return true;
    }
    const auto* done = std::get_if<TraceDone>(&message);
    if (done == nullptr) return false;
    if (trace_)
        if (const auto answer = trace_->on_done(from, *done)) branches_->send(*answer, from);
    merge_stopped_trace();
    return true;
}

}  // namespace poe::pm
