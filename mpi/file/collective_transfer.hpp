// CollectiveTransfer: a collective data access in two phases. Some members, the aggregators, read
// or write the file in long contiguous parts, and exchange the data with all members by messages.
//
//   1. All members publish which part of the file their data span. If the parts do not interleave,
//      or their pieces are long, each member reads or writes its own data, and the call ends here.
//   2. The whole span is cut into windows of the size of the collective buffer, which the
//      aggregators take in turn. In each round an aggregator has one window. Writing: every member
//      sends the data that belong there, directly from its memory, and the aggregator receives them
//      directly at their places. Then it writes what it has received and no gap. Reading: the other
//      way round.
//   3. All members publish whether their part has succeeded.
//
// An aggregator computes the places from the views that MPI_File_set_view has sent, so no lists of
// places are sent. A message of a round is a contiguous part of a member's stream, because its
// places ascend.
//
// The system reads and writes between two steps of advance(), which any thread may make:
// threads.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/file/program_data.hpp"
#include "mpi/file/slice.hpp"
#include "mpi/file/threads.hpp"
#include "mpi/file/transfer.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

class CollectiveTransfer final : public Work {
  public:
    // All members make the call at the same place among the collective calls of the file. The file
    // and the program's memory must stay until the end. `position` is in bytes of the stream.
    // `blocks`: a thread waits for the end, and makes the system calls of system_calls().
    CollectiveTransfer(comm::Runtime& runtime, File& file, FileAccess access, Bytes position,
                       ProgramData data, bool blocks);

    void start(comm::MessageLayer& messages) override;
    bool advance(comm::MessageLayer& messages) override;
    Awaited awaited(const comm::MessageLayer& messages) override;
    Fault result() override { return fault_; }
    Bytes moved() const noexcept override { return moved_; }
    // After the end: the bytes of the stream that have moved.
    Bytes stream_bytes() const noexcept { return stream_bytes_; }
    SystemCalls& system_calls() noexcept { return system_; }
    MPI_File file() const noexcept override { return handle_of(file_); }
    bool calls_program() const noexcept override { return calls_program_; }

  private:
    enum class State : std::uint8_t {
        kSpans,    // the spans are being published
        kOwn,      // this member moves its own data
        kReading,  // an aggregator reads a window
        kRound,    // the messages of a round are under way
        kWriting,  // an aggregator writes a window
        kVerdict,
        kEnded
    };

    // What each member publishes to all.
    template <typename T>
    struct Published {
        // Made at the start of the call, because all members must number their collective calls
        // alike, and the second phase ends at different moments. Null: the file has one member.
        RecordingPtr exchange;
        T own;
        std::vector<T> all;
    };
    // What a member publishes first.
    struct Span {
        std::int64_t first = 0;  // of the file
        std::int64_t end = 0;
        std::int64_t position = 0;  // of the stream
        std::int64_t bytes = 0;
        std::int64_t piece = 0;  // the length of the first contiguous piece
        Choice choice = Choice::kAutomatic;
    };

    // And last.
    struct Verdict {
        std::int32_t code = MPI_SUCCESS;
        std::int32_t error = 0;  // of the system
    };

    Span own_span() const;
    RecordingPtr gather(const void* own, void* all, Bytes bytes) const;
    bool exchanges() const;
    void begin_windows();
    void begin_round(comm::MessageLayer& messages);
    bool round_ended(comm::MessageLayer& messages);
    void end_round();
    void next_round(comm::MessageLayer& messages);
    void begin_own();
    void end_own();
    void begin_verdict();
    void end_verdict();
    void finish();
    void note(comm::Outcome outcome, TaskId task);

    const Stream& stream_of(int rank) const noexcept;
    // The part of a member's stream in [first, end) of the file.
    struct Part {
        Bytes first = 0;
        Bytes end = 0;
        bool empty() const noexcept { return first == end; }
    };
    struct Rounds {
        int place = -1;          // of this task among the aggregators; -1: it is none
        std::int64_t begin = 0;  // of the first window
        std::int64_t end = 0;    // of the file's part
        std::int64_t number = 0;
        std::int64_t count = 0;
    };
    // The window of an aggregator in the present round.
    struct Window {
        FileWindow buffer;
        std::int64_t first = 0;
        std::int64_t end = 0;
        std::vector<Part> parts;       // of all members, by rank
        std::int64_t parts_first = 0;  // the part of the file that they span
        std::int64_t parts_end = 0;
    };
    // The messages of the present round.
    struct Messages {
        std::deque<Slice> slices;
        std::deque<comm::SendRequest> sends;
        std::deque<comm::ReceiveRequest> receives;
        std::size_t own_receives = 0;  // reading: the receives of this round
    };
    Part part_of(int rank, std::int64_t first, std::int64_t end) const noexcept;
    void send(comm::MessageLayer& messages, int rank, const Slice& slice);
    void receive(comm::MessageLayer& messages, int rank, const Slice& slice);
    void find_parts();
    void receive_window(comm::MessageLayer& messages);
    void begin_reading(comm::MessageLayer& messages);
    void fail(const Transferred& part);
    void send_window(comm::MessageLayer& messages);
    // `locks` as in write_bytes().
    void write_window(bool locks);

    comm::Runtime& runtime_;
    File& file_;
    const std::shared_ptr<const View> view_;
    const std::shared_ptr<const std::vector<MemberView>> member_views_;
    FileAccess access_;
    Bytes position_;
    ProgramData data_;
    FileMemory memory_;
    const bool calls_program_;
    const std::int32_t type_;  // of messages
    State state_ = State::kSpans;
    SystemCalls system_;  // of the states kOwn, kReading and kWriting
    Transferred
        transferred_;  // by them; kReading: into the window from the first byte of all parts on
    Published<Span> spans_;
    Published<Verdict> verdicts_;
    Fault fault_;
    Fault own_fault_;
    Bytes moved_ = 0;  // in bytes of the stream until the end, then of the program's datatype
    Bytes stream_bytes_ = 0;

    std::unique_ptr<Transfer> own_transfer_;
    // The second phase.
    Rounds rounds_;
    Window window_;
    Messages messages_;
};

}  // namespace poe::mpi
