// NodeTrace: a daemon's part of the traces of its tasks. It makes the streams, tells the tasks by a
// word in their slots to record or to stop, writes a stream of its own (how tasks ended,
// statistics, clocks), and in the end sees to it that poe has them all: where poe's directory can
// be seen from here they were made in it; otherwise they go up the channel, within a window.
//
// One trace at a time; a job may be traced several times, one after another (generations).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/segment/node_segment.hpp"
#include "partition_manager/channel/channel.hpp"
#include "partition_manager/channel/stream_window.hpp"
#include "partition_manager/daemon/system_sampler.hpp"
#include "tracer/probe/recorder.hpp"

namespace poe::pm {

// For the thread of the loop. Nothing blocks but disks.
class NodeTrace {
  public:
    // `send`: a message to poe. `on_over`: over() has become true. All references must outlive
    // this.
    NodeTrace(asio::io_context& loop, const JobSpec& job, NodeIndex node, Channel& up,
              StreamWindow& window, std::function<void(const Message&)> send,
              std::function<void()> on_over);
    ~NodeTrace();

    // The streams of the node's tasks, and the tasks are told. Nothing of it can end the job: what
    // does not work is said in an Attention. `segment` must live until end().
    void begin(const TraceSpec& spec, NodeSegment& segment, const std::string& job_directory);
    void on_task_exit(TaskId task, int wait_status, const rusage& usage);
    void on_clock(const ClockReply& answer);
    void on_taken(const TraceTaken& taken);
    // Nothing more is recorded; what was goes to poe. Says TraceDone when it has.
    void end();
    // The same, but poe does not want to wait: what is not there stays here.
    void abandon();
    // More may go up.
    void resume();

    bool active() const { return phase_ == Phase::kRecording; }
    bool over() const { return phase_ == Phase::kIdle; }

  private:
    enum class Phase { kIdle, kRecording, kFirstClocks, kLastClocks, kSending, kSent };
    struct Stream {
        trace::StreamKind kind = trace::StreamKind::kTask;
        std::int32_t number = 0;
        std::string path;
    };

    void choose_directory();
    void make_streams();
    void record_sums(TaskId task, const rusage& usage);
    void store_words(std::uint32_t level);
    void sample();
    void ask_clocks();
    void on_clocks_asked();
    void ask_last_clocks();
    void begin_sending();
    void send_some();
    bool next_stream();
    bool records_now(std::size_t place);
    void finish(const std::string& left);
    void remove_streams() noexcept;

    asio::io_context& loop_;
    const JobSpec& job_;
    NodeIndex node_;
    Channel& up_;
    StreamWindow& window_;
    std::function<void(const Message&)> send_;
    std::function<void()> on_over_;
    asio::steady_timer sample_timer_;
    asio::steady_timer clock_timer_;

    Phase phase_ = Phase::kIdle;
    TraceSpec spec_;
    NodeSegment* segment_ = nullptr;
    std::string job_directory_;
    std::string directory_;  // where the streams of this node are
    bool in_place_ = false;  // poe sees them there
    std::vector<Stream> streams_;
    std::unique_ptr<trace::Recorder> recorder_;
    std::unique_ptr<SystemSampler> sampler_;
    std::vector<bool> records_itself_;  // by place in streams_
    int clocks_wanted_ = 0;             // of this round of questions
    std::size_t sending_ = 0;           // of streams_
    UniqueFd sent_file_;
    Bytes sent_bytes_ = 0;
    Bytes sent_size_ = 0;
};

}  // namespace poe::pm
