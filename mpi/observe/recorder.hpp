// Recorder: turns the calls that a program makes to a foreign MPI library into what the calls of
// our own library show: what the task does now, in its slot of the node segment, and records of the
// trace.
//
// before() and after() enclose every outermost call. What one of them needs of the call is said by
// its shape (call_shape.hpp); what differs between the libraries is in ForeignLibrary. The
// library's own functions are called only to look something up, and for handles that it has
// accepted.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "mpi/observe/call_shape.hpp"
#include "mpi/observe/call_site.hpp"
#include "mpi/observe/communicators.hpp"
#include "mpi/observe/flat_table.hpp"
#include "mpi/observe/foreign_library.hpp"
#include "mpi/observe/message_numbers.hpp"
#include "mpi/observe/observed_call.h"
#include "mpi/observe/queue_table.hpp"
#include "tracer/probe/tracer.hpp"

namespace poe::observe {

// Takes the place of the root's task if the calling task takes no part in a rooted call: it is in
// the root's group of an intercommunicator, but is not the root. The trace does not show such a
// call as an operation.
inline constexpr TaskId kTakesNoPart = -2;

// One end of a message, as the arguments of a call name it.
struct End {
    TaskId peer = TaskActivity::kAnyPeer;  // -1 also for a task that does not belong to the job
    std::int32_t tag = TaskActivity::kNoType;
    Bytes bytes = 0;
    bool nobody = false;    // MPI_PROC_NULL: there is no message
    bool wildcard = false;  // any source or any tag
};

// An operation that a request stands for.
struct Pending {
    enum class Kind : std::uint8_t { kSend, kReceive, kCollective, kNewComm };

    Kind kind = Kind::kSend;
    bool persistent = false;
    bool active = true;
    End end;
    std::uint32_t number = 0;   // of the message; 0: not known yet. Or of the collective operation
    std::uint32_t request = 0;  // counts the requests of this task
    TaskId root = -1;
    DataFlow flow = DataFlow::kNone;  // of a persistent collective operation
    Communicator* comm = nullptr;
    const void* new_comm = nullptr;  // where the library stores the communicator that it makes
};

// What is kept of a call from its beginning to its end (PoeObservedCall::kept).
struct CallNotes {
    Communicator* comm = nullptr;
    End end;
    bool collective = false;
    bool recorded = false;  // the trace has the beginning of the call
    trace::Phase phase = trace::Phase::kWhole;
    TaskId root = -1;
    std::uint32_t number = 0;  // of the message or of the collective operation
    Word handle = 0;           // that the call may overwrite
    trace::OpenCall open;      // where the trace has the beginning, if it has
};
static_assert(sizeof(CallNotes) <= sizeof PoeObservedCall::kept &&
              std::is_trivially_copyable_v<CallNotes>);

// What a call has ended or begun: a message or a collective operation, for the trace.
struct Part {
    trace::CallPart part = trace::CallPart::kNone;
    TaskId peer = -1;
    std::int32_t tag = 0;
    std::uint32_t context = 0;
    TaskId root = -1;
    std::uint32_t number = 0;
    std::uint32_t request = 0;
    Bytes bytes = 0;
};

// One per process. Any thread that the library admits may call.
class Recorder {
  public:
    // `slot`: of this task; the segment must exist as long as the process. `world_task`: see
    // Communicators. `library_threads`: ids of the threads that the library has started for itself.
    // To be constructed in the thread that has initialized MPI. Exists as long as the process.
    Recorder(const ForeignLibrary& library, TaskSlot& slot, TaskId world_task,
             std::span<const int> library_threads);

    // `shape`: of the function of the call. Inlined, so that for a known shape hardly anything is
    // left.
    void before(PoeObservedCall& call, const CallShape& shape);
    void after(PoeObservedCall& call, const CallShape& shape, int result);
    // The thread of this entry ends and calls no more.
    void forget(ObservedCaller& caller) noexcept;

  private:
    void describe(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void describe_requests(const CallShape& shape, CallNotes& notes);
    void outgoing(const PoeObservedCall& call, const CallShape& shape, const Communicator& comm,
                  End& end);
    void incoming(const PoeObservedCall& call, const CallShape& shape, const Communicator& comm,
                  End& end);
    void send_of_exchange(const PoeObservedCall& call, const CallShape& shape,
                          const Communicator& comm);
    TaskId root_of(const PoeObservedCall& call, const CallShape& shape,
                   const Communicator& comm) const noexcept;
    Bytes bytes_of(const PoeObservedCall& call, const CallShape& shape, int count, int type);
    Bytes bytes_of(long elements, Word type);
    Bytes collective_bytes(const PoeObservedCall& call, const CallShape& shape,
                           const Communicator& comm);
    Bytes special_bytes(const PoeObservedCall& call, const CallShape& shape,
                        const Communicator& comm);
    void save(PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void save_requests(PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void want_status(PoeObservedCall& call, const CallShape& shape, std::size_t count);
    void show(const PoeObservedCall& call, const CallNotes& notes);
    void record_begin(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void add_part(const Part& part) noexcept;
    trace::CallRecord record_of_part() noexcept;
    void end_parts(const CallNotes& notes) noexcept;
    void record_sent(const PoeObservedCall& call, const Communicator& comm, const End& end,
                     std::uint32_t number, std::uint32_t request) noexcept;
    std::uint32_t send(const Communicator& comm, const End& end);
    std::uint32_t number_of_receive(const Communicator& comm, const End& end);
    bool shows_this_thread() const noexcept;
    bool is_main_thread() const noexcept;
    void find_type(Word handle);
    void start_persistent(const PoeObservedCall& call, const CallShape& shape,
                          const CallNotes& notes);

    void take_effect(const PoeObservedCall& call, const CallShape& shape, const CallNotes& notes);
    void add_request(const PoeObservedCall& call, const CallShape& shape, const CallNotes& notes);
    void match(const PoeObservedCall& call, const CallShape& shape, const CallNotes& notes);
    void complete(const PoeObservedCall& call, const CallShape& shape, const CallNotes& notes);
    void finish(Word handle, const void* statuses, std::size_t index);
    void arrived(const Communicator& comm, const Arrival& arrival, std::uint32_t number,
                 std::uint32_t request);
    void control(int level);

    ObservedCaller& own_caller();
    void enter(const PoeObservedCall& call, const CallNotes& notes);
    void describe_object(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void find_object(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void note_object_needs(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void take_effect_on_object(const PoeObservedCall& call, const CallShape& shape,
                               const CallNotes& notes);
    void note_epoch(const std::vector<ObservedNeed>& epoch);
    void let_library_rest() const;
    Communicator* made_of(const Communicator& parent, const char* kind);
    void begin_epoch(Communicator& window, Word group, bool access);
    void note_sender(const MessageLine& line);
    bool several_threads_send(const MessageLine& line);
    void note_needs(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes);
    void note_need(const ObservedNeed& need) noexcept;
    void count_wildcard(const Pending& pending, int change) noexcept;
    void need_requests(const CallShape& shape, const CallNotes& notes);
    void need_request(Word handle);

    ForeignLibrary library_;
    TaskSlot& slot_;
    ObservedTables tables_;
    ObservedWait* wait_ = &tables_.callers.front().wait;  // of the thread that has the mutex
    bool many_threads_ = false;
    bool finalized_ = false;
    std::mutex mutex_;  // taken only if there may be several threads
    const void* main_thread_ = nullptr;
    CallSites sites_;
    Communicators comms_;
    static_assert(FlatTable<Word, Communicator*>::kEntryBytes == sizeof(ObservedCommEntry));
    FlatTable<Word, Communicator*> windows_;
    FlatTable<Word, Communicator*> files_;
    FlatTable<Word, Bytes> type_sizes_;
    Word last_type_ = 0;  // 0: none
    Bytes last_type_size_ = 0;
    QueueTable<Word, Pending> pending_;
    QueueTable<Word, Pending> matched_;  // by the handle of the matched message
    MessageNumbers sends_;
    MessageNumbers receives_;
    // Used only if there may be several threads, as ObservedTables::ended. Which thread has sent
    // messages of a line; null: several have. Then the numbers of these messages may differ from
    // the order in which the library has sent them.
    MessageNumbers ended_;
    FlatTable<MessageLine, const void*> senders_;
    // The number of the last request. Numbers begin again at 1 when the largest one that a whole
    // call can hold is used, so that each of the pending requests has a different one.
    std::uint32_t requests_ = 0;
    std::uint32_t next_request() const noexcept {
        constexpr std::uint32_t kLargest = (1u << trace::WholeCall::kRequestBits) - 1;
        return requests_ % kLargest + 1;
    }
    // The call that is ending, and its last part so far. It is recorded together with the end of
    // the call.
    const PoeObservedCall* ending_ = nullptr;
    Part last_part_;
    const Communicator* shown_comm_ = nullptr;
};

}  // namespace poe::observe
