// JobTracing: the traces of a job on poe's side. The job is traced from the beginning if
// -tracelevel asks for it, or on demand (poe -trace).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <asio/io_context.hpp>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/home/trace_gathering.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/status/command_socket.hpp"

namespace poe::pm {

// The questions for the CommandSocket of a job: start a trace now and write it to the file with the
// absolute path `path`; stop the trace. The answer is '+' (success) or '-' (failure), followed by
// the result in words.
std::string start_trace_question(const TraceSpec& trace, const std::string& path);
std::string stop_trace_question();

// Call only from the event loop's thread. Blocks only on disk I/O, and in finish().
class JobTracing {
  public:
    struct Handlers {
        // All tasks have been started, and the job is not ending.
        std::function<bool()> tasks_run;
        std::function<void(const Message&, NodeIndex to)> send;
        std::function<void(const std::string&)> on_attention;
        // Merges the gathered streams into one file and returns the result in words. Called on a
        // separate thread.
        std::function<std::string(const TraceGathering&, const std::string& path)> merge;
    };

    // `job` must outlive this object. Its `trace` is set to what is being traced.
    JobTracing(asio::io_context& loop, JobSpec& job, Handlers handlers);
    ~JobTracing();

    // To be called before the tasks are started. If the job cannot be traced, it runs without a
    // trace.
    void begin(const std::string& path);
    // To be called when all tasks run.
    void on_started();
    void on_frame(const Frame& frame);
    void on_done(NodeIndex from, const TraceDone& done);
    void on_lost(NodeIndex node);
    // True while some streams have not arrived yet.
    bool incomplete() const { return trace_ && !trace_->complete(); }
    // To be called when the job has ended. Blocks until a merge in progress has ended.
    void finish();

    // The gathered streams, and the file to be made of them. Null: no file is to be made.
    const TraceGathering* trace() const { return trace_.get(); }
    const std::string& path() const { return path_; }

  private:
    using Answer = CommandSocket::Answer;
    void on_question(const std::string& question, Answer answer);
    std::string start(TraceSpec spec, const std::string& path);
    void stop(Answer answer);
    void merge_stopped();
    void on_merged(const std::string& words);

    asio::io_context& loop_;
    JobSpec& job_;
    Handlers handlers_;
    std::unique_ptr<CommandSocket> commands_;
    std::unique_ptr<TraceGathering> trace_;
    std::string path_;
    Answer stopped_;  // answers the caller that has stopped the trace
    std::thread merger_;
    bool merging_ = false;
};

}  // namespace poe::pm
