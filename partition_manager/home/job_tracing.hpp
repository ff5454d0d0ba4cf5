// JobTracing: the traces of a job, as its poe sees them: from the beginning if -tracelevel asks for
// it, and on demand (poe -trace).
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

// What to ask the CommandSocket of a job: to be traced from now on, to a file of that absolute
// path; and no longer. The answer begins with '+' or '-', followed by the result in words.
std::string start_trace_question(const TraceSpec& trace, const std::string& path);
std::string stop_trace_question();

// For the thread of the loop. Blocks on disks only.
class JobTracing {
  public:
    struct Handlers {
        std::function<bool()> tasks_run;  // all tasks have been started, and the job is not ending
        std::function<void(const Message&, NodeIndex to)> send;
        std::function<void(const std::string&)> on_attention;
        // Makes one file of the streams that have been gathered, and returns in words how that went.
        // Called by a thread of its own.
        std::function<std::string(const TraceGathering&, const std::string& path)> merge;
    };

    // `job` must outlive this; its `trace` is set to what is traced.
    JobTracing(asio::io_context& loop, JobSpec& job, Handlers handlers);
    ~JobTracing();

    // Before the tasks are started. A job that cannot be traced runs without a trace.
    void begin(const std::string& path);
    // All tasks run.
    void on_started();
    void on_frame(const Frame& frame);
    void on_done(NodeIndex from, const TraceDone& done);
    void on_lost(NodeIndex node);
    // Streams are still on their way although all tasks have ended.
    bool incomplete() const { return trace_ && !trace_->complete(); }
    // The job has ended. Blocks until a merge that is under way has ended.
    void finish();

    // What has been gathered, and the file that is to be made of it; null: none is to be made.
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
    Answer stopped_;  // to the caller that has stopped the trace
    std::thread merger_;
    bool merging_ = false;
};

}  // namespace poe::pm
