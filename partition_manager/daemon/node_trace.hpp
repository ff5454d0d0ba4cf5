// NodeTrace: a daemon's part of the traces of its tasks. It
// - creates the streams,
// - makes the tasks start and stop recording by a word in their slots,
// - writes a stream of its own (how tasks ended, statistics, clocks),
// - has the call stacks of the tasks recorded by a child, if the user wants them,
// - transfers the streams to poe at the end. If poe's directory is visible on this node, the
//   streams were created in it. Otherwise they are sent up the channel, within a window.
//
// There is one trace at a time. A job may be traced several times, one trace after another
// (generations).
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
#include "partition_manager/daemon/sampler_process.hpp"
#include "partition_manager/daemon/system_sampler.hpp"
#include "tracer/probe/recorder.hpp"

namespace poe::pm {

// Call only from the event loop's thread. Blocks only on disk I/O.
class NodeTrace {
  public:
    // `send` sends a message to poe. `on_over` is called when over() has become true. All
    // references must outlive this object.
    NodeTrace(asio::io_context& loop, const JobSpec& job, NodeIndex node, Channel& up,
              StreamWindow& window, std::function<void(const Message&)> send,
              std::function<void()> on_over);
    ~NodeTrace();

    // Creates the streams of the node's tasks and makes the tasks record. A failure never ends the
    // job; it is reported in an Attention. `segment` must live until end().
    void begin(const TraceSpec& spec, NodeSegment& segment, const std::string& job_directory);
    void on_task_started(TaskId task, pid_t process);
    void on_task_exit(TaskId task, int wait_status, const rusage& usage);
    void on_clock(const ClockReply& answer);
    void on_taken(const TraceTaken& taken);
    // Stops recording and transfers the records to poe. Sends TraceDone when this is complete.
    void end();
    // Like end(), but poe does not wait: streams that have not been transferred stay on this node.
    void abandon();
    // To be called when the window or the channel has room again.
    void resume();

    bool active() const { return phase_ == Phase::kRecording; }
    bool over() const { return phase_ == Phase::kIdle; }
    // The file into which new tasks copy their stacks; empty: they need not.
    const std::string& sample_slots() const { return sample_slots_; }
    // The child that samples call stacks; 0: there is none.
    pid_t sampler_pid() const { return stacks_ ? stacks_->pid() : 0; }

  private:
    enum class Phase { kIdle, kRecording, kLastStacks, kFirstClocks, kLastClocks, kSending, kSent };
    struct Stream {
        trace::StreamKind kind = trace::StreamKind::kTask;
        std::int32_t number = 0;
        std::string path;
    };

    // The stream being sent.
    struct Sending {
        std::size_t stream = 0;  // place in streams_
        UniqueFd file;
        Bytes bytes = 0;  // that have been sent
        Bytes size = 0;
    };

    void choose_directory();
    void make_streams();
    void start_sampler(const std::string& stream);
    void record_sums(TaskId task, const rusage& usage);
    void store_words(std::uint32_t level);
    void sample();
    void ask_clocks();
    void on_clocks_asked();
    void ask_last_clocks();
    void end_clocks();
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
    std::string directory_;  // contains the streams of this node
    bool in_place_ = false;  // directory_ is poe's own directory
    std::vector<Stream> streams_;
    std::unique_ptr<trace::Recorder> recorder_;
    std::unique_ptr<SystemSampler> sampler_;
    std::unique_ptr<SamplerProcess> stacks_;
    std::string sample_slots_;
    std::vector<bool> records_itself_;  // by place in streams_: the task writes it itself
    int clocks_wanted_ = 0;             // remaining questions of this round
    Sending sending_;
};

}  // namespace poe::pm
