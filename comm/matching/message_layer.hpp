// MessageLayer: matching, eager and rendezvous protocols, requests, buffer memory. It uses pipes
// and knows no more of devices than pipe.hpp says (SP2 communication subsystem, IBM Systems Journal
// 34/2).
//
// Eager protocol, up to the eager limit: the message travels as one kEager frame. If no receive
// matches, the receiver keeps it in buffer memory.
//
// Rendezvous protocol, above the eager limit:
//   1. The sender announces the message (kRequest).
//   2. When a receive matches, the receiver answers with kGrant.
//   3. The bytes (kData) go directly from user memory to user memory through the pipe.
// If the pipe can read the sender's memory, the receiver may instead fetch the bytes itself and
// then grants 0 bytes (see single_copy_tuner.hpp). A task whose wait has lasted a while also takes
// announced messages into buffer memory, as long as there is room. Therefore two tasks that both
// send first do not deadlock, and a later message of a sender can be received before an earlier
// one. A synchronous message uses this protocol at every length, and is never taken into buffer
// memory, because its send may end only when a receive has matched.
//
// To cancel an announced message, the sender sends kCancel. If no receive has matched the message,
// the receiver forgets it and answers with kCancelled. Otherwise the receiver does nothing, because
// its kGrant is on the way, and the send completes. The sender therefore gets one of the two frames
// as soon as the receiver polls.
//
// Fairness: one visit to a pipe (on_input, pump) moves at most about kBytesPerVisit bytes. A longer
// message that is fetched is fetched in pieces of that size, one piece per call of progress(). All
// active pipes are polled between two pieces, so a long message delays other tasks' messages by one
// piece only (IBM Systems Journal 34/2, "fair service").
//
// Buffer memory is per pair of tasks: `buffer_mem` bytes for the eager messages of each class of
// flow control, and as much again for announced messages. The sender holds tokens for the eager
// part and waits if it has none.
//
// Matching is by context, source and type. A receive takes the oldest matching message of a source;
// a message takes the oldest matching receive (the stricter MPI rule; MPL allows it).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/segment/task_traffic.hpp"
#include "base/types.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/matching/request.hpp"
#include "comm/matching/single_copy_tuner.hpp"
#include "comm/matching/unexpected_messages.hpp"
#include "comm/matching/unexpected_pool.hpp"
#include "comm/progress/thread_waits.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {

struct Peer;  // message_peer.hpp

struct MessageLayerSettings {
    TaskId me = 0;
    std::uint32_t tasks = 1;
    Bytes eager_limit = 0;
    Bytes buffer_mem = 0;
};

// Bytes of buffer memory that every buffered message costs in addition to its payload.
inline constexpr Bytes kMessageCost = 128;

// Bytes that are moved for one peer before the other peers are polled.
inline constexpr Bytes kBytesPerVisit = 256 << 10;

// Work that progress() does in addition to messages: operations on windows that other tasks store
// in shared memory, steps of accesses to files.
class OtherInput {
  public:
    virtual ~OtherInput() = default;
    // Does a part of the work. Returns true if it has done anything; a wait then polls again before
    // it sleeps. Must not wait for another task, and must not call the layer.
    virtual bool poll() = 0;
};

// What continues other operations of the task during its waits.
class Helper {
  public:
    // Does a part of the work. Returns true if it has done anything. Must not block. With
    // `users_functions` false it must not call functions of the user.
    virtual bool help(bool users_functions) = 0;

  protected:
    ~Helper() = default;
};

// For one thread at a time. After share(), another thread may call a function while a thread blocks
// in one; before share(), a second thread is refused above this layer. Functions throw poe::Error
// if segment memory cannot be reserved.
class MessageLayer final : private PipeSink {
  public:
    // `device_of` returns the device that reaches a task; it is never called for the task itself
    // and may throw Error. `waiter` may be null only in a job of one task. All arguments must
    // outlive the layer.
    MessageLayer(const MessageLayerSettings& settings, std::vector<Device*> devices,
                 std::function<Device&(TaskId)> device_of, Waiter* waiter);
    ~MessageLayer() override;

    // Adds a device. It must outlive the layer.
    void add(Device& device) { devices_.push_back(&device); }
    // From now on the next unused task number is a task of another job. Messages of up to
    // `eager_limit` bytes are sent to it by the eager protocol. `eager_limit` is at most this
    // task's own limit, and the other task uses the same value.
    void admit_guest(Bytes eager_limit);
    // True if no other task can send to this one.
    bool alone() const noexcept { return peers_.size() == 1; }

    // From now on several threads use the layer (MPI_THREAD_MULTIPLE). If a thread blocks in one of
    // the functions below, it releases the runtime lock until its wait is over; `waits` does that.
    // It must outlive the layer. This task may then send to itself while another of its threads
    // waits.
    void share(ThreadWaits& waits) noexcept { thread_waits_ = &waits; }
    bool shared() const noexcept { return thread_waits_ != nullptr; }

    // From now on a wait ends if it cannot complete because a task of this node has ended. Before
    // this call, a wait for a task in shared memory lasts until the job is ended. `lost_member` is
    // called for messages from any task and for those of collective calls, because members that
    // have left the call after an error send nothing more. It returns a member of the message's
    // communicator for which lost() is true; -1 if there is none. `segment` must outlive the layer.
    // MPI needs this; MPL leaves the decision to poe.
    using LostMember = std::function<TaskId(ContextId context, std::int32_t type)>;
    void notice_ends(const NodeSegment& segment, LostMember lost_member);
    bool notices_ends() const noexcept { return ends_.segment != nullptr; }
    // True if this task has noticed that `task` has ended, or if its pipe is broken.
    bool lost(TaskId task) const noexcept;
    // The same, also if this task has not noticed it. Looks only at the segment, so it may be
    // called while messages move.
    bool has_ended(TaskId task) const noexcept;
    // Returns the lost task that such a message needs, so that it will not arrive; -1 if this task
    // knows of none. Messages may be moved. Never blocks.
    TaskId lost_sender(const MatchKey& wanted);

    // From now on messages of MPI have so many bytes more than the program has given. Watchers do
    // not see them.
    void add_envelope(Bytes bytes) noexcept { tables_.envelope = bytes; }

    // Counts the bytes of all messages in `traffic`, which must outlive the layer.
    void count_in(TrafficWords& traffic) noexcept { traffic_.words = &traffic; }

    // Starts an operation; never blocks. The caller owns the request until it has ended, and sets
    // these fields: of a send, view, dest, type, context, flow and synchronous; of a receive, view
    // and wanted.
    void start(SendRequest& request);
    void start(ReceiveRequest& request);
    // Sends a message of the eager protocol without a request if the pipe takes all of it at once.
    // Returns false if it has done nothing: then start() must send the message. Never blocks.
    bool send_at_once(const BufferView& view, TaskId dest, std::int32_t type, ContextId context,
                      FlowClass flow = FlowClass::kUser);
    // Moves everything that can be moved, at most about kBytesPerVisit bytes per peer. Never
    // blocks. Returns true if anything was moved.
    bool progress();
    // Call after starting a nonblocking receive: fetches the first pieces of a message that was
    // waiting for it, so that a message of up to a megabyte arrives before the call returns.
    void begin_fetching();
    // For a caller that polls repeatedly and finds nothing: takes announced messages into buffer
    // memory, as a long wait does, because the awaited message may be queued after them. Never
    // blocks. Returns true if there were any.
    bool take_in_offers();
    // From now on `helper`, which must stay, is called during waits and by help(). Null: no helper.
    void set_helper(Helper* helper) noexcept { helper_ = helper; }
    // The same for a second helper, which is independent of the first one. MPI's requests use it.
    void set_request_helper(Helper* helper) noexcept { request_helper_ = helper; }
    // After add_input(), progress() polls `input`, too, until remove_input(). remove_input() does
    // nothing if `input` was not added.
    void add_input(OtherInput& input) { other_inputs_.push_back(&input); }
    void remove_input(OtherInput& input) noexcept { std::erase(other_inputs_, &input); }
    // The names of communicators, for watchers; see Waiter::name_contexts.
    void name_contexts(std::function<std::string_view(ContextId)> name);
    bool help(bool users_functions = true) {
        const bool did = helper_ != nullptr && helper_->help(users_functions);
        return (request_helper_ != nullptr && request_helper_->help(users_functions)) || did;
    }
    // True if progress() has operations in progress that another task may not notice.
    bool needs_polling() const noexcept { return !sending_.empty() || !fetches_.empty(); }
    // True if progress() or a helper have operations in progress.
    bool has_more_to_do() const noexcept {
        return helper_ != nullptr || request_helper_ != nullptr || needs_polling();
    }
    // True if progress() or a helper have operations in progress, or if a message of another task
    // would complete something: a posted receive, or a long message that is announced or on its
    // way.
    bool has_open_requests() const noexcept {
        return has_more_to_do() || !posted_.queues.empty() || sends_.any() || receives_.any();
    }
    // Blocks until the operation has ended. Returns its outcome.
    Outcome wait(SendRequest& request);
    Outcome wait(ReceiveRequest& request);
    // Blocks until a request has ended whose `tell` is `list`; the caller removes it from the list.
    // `sweep` is called during the wait, to end requests that cannot complete (end_if_hopeless).
    void wait(FinishedList& list, const std::function<void()>& sweep);
    // Blocks until over() returns true; messages make progress meanwhile. awaited() names the
    // member being waited for; it is called only when a diagnostic is due. For waits that end by a
    // store to shared memory: the task that makes the store must wake this task. Does not allocate.
    // `give_up` is called in waits that last; if it returns true, the wait ends and the result is
    // false.
    template <typename Over, typename Names>
    bool wait_until(const Over& over, const Names& awaited,
                    const std::function<bool()>* give_up = nullptr) {
        for (int i = 0;
             i < kYieldsBeforePolling && !shared() && !has_more_to_do() && waiter_->yield_first();
             ++i)
            if (over()) return true;
        return wait_until_stored(std::cref(over), std::cref(awaited), give_up);
    }
    // For waits outside this layer, such as for a daemon's answer. Call the first at the start of
    // the wait and the second at each poll: it makes progress with messages. Neither blocks.
    void begin_wait_elsewhere() noexcept;
    void look_elsewhere(const Awaited& awaited);
    // Ends the operation if its partner's pipe is broken, or if no task can ever complete it. A
    // send to this task itself is an exception: only wait(SendRequest&) ends it, because this task
    // may still receive the message as long as it does not block in that wait. After share(),
    // another thread may always complete an operation with this task itself. A send that was
    // announced to a task that has not ended is withdrawn, which takes some time; it then ends with
    // kPeerBroken, or with kDone if a receive matches it first.
    void end_if_hopeless(SendRequest& request);
    // Copies what the request sends to `copy`, which has room for it, and sends it from there, so
    // that the program may use its buffer again. A receiver that knows the message already may
    // still fetch it from the buffer. Precondition: the request is pending, and not to this task
    // itself.
    void send_from_copy(SendRequest& request, std::byte* copy);
    void end_if_hopeless(ReceiveRequest& request);
    // Ends the receive if it needs a task that has ended or whose pipe is broken.
    void end_if_lost(ReceiveRequest& request);
    // Returns the oldest message that such a receive would match; null if there is none. Considers
    // only messages that have arrived (call progress() first). Valid until the next call of another
    // function of this class.
    const Unexpected* probe(const MatchKey& wanted);

    // Blocking send, with a fast path for the common case. Returns kDone or the reason of failure.
    Outcome send(const BufferView& view, TaskId dest, std::int32_t type,
                 ContextId context = kMplContext, FlowClass flow = FlowClass::kUser);
    // Blocking receive. The returned request is valid until the next call of this thread.
    const ReceiveRequest& receive(const BufferView& view, const MatchKey& wanted);

    // Matched probe (MPI 5.0, 3.8.2). Removes the oldest message that such a receive would match
    // from matching, whatever its state, so that no receive and no probe finds it any more. Returns
    // its handle; null if there is no such message. Considers only messages that have arrived. The
    // layer keeps the message until start() receives it. Never blocks.
    Unexpected* extract(const MatchKey& wanted);
    // Starts the receive of an extracted message; never blocks. The caller sets `view` only. The
    // handle is invalid afterwards.
    void start(ReceiveRequest& request, Unexpected& extracted);
    // Cancels a receive that was started and has not been matched: it ends with kCancelled. Returns
    // false, and changes nothing, if a message has matched it or if it has ended (MPI 5.0, 3.8.4).
    // Never blocks.
    bool cancel(ReceiveRequest& request);
    // Cancels a send that was started. A send to this task itself, or one of which no frame was
    // sent, ends with kCancelled at once. A send that was announced ends with kCancelled or
    // completes as soon as the receiver polls. Any other send completes. Never blocks.
    void cancel(SendRequest& request);

    // For measurements: all messages that could be fetched or streamed use `way`. Empty: they use
    // the cheaper way again.
    void take_long_way(std::optional<CopyMethod> way) noexcept { transfers_.forced_way = way; }
    // Returns the cheaper way for messages of `length` bytes between this task and `task`, as
    // measured so far.
    CopyMethod cheaper_way(TaskId task, Bytes length);

    // Returns what a wait for this pending request waits for.
    Awaited awaited_by(const SendRequest& request) const noexcept;
    Awaited awaited_by(const ReceiveRequest& request) const noexcept;

    // Returns why the pipe to that task is broken; null if it is not.
    const char* fault_of(TaskId task) const noexcept;
    // Number of messages that have arrived or were announced and have not been received.
    std::size_t unexpected_messages() const noexcept { return unexpected_.matchable(); }
    // Number of receives that wait for a message.
    std::size_t posted_receives() const noexcept {
        return posted_.queues.size() + (posted_.blocking != nullptr ? 1 : 0);
    }
    // Where the queues are, for readers of this process's memory. Valid as long as the layer.
    const MatcherTables& tables() const noexcept { return tables_; }
    // For watchers: messages that no receive has matched, those that matter for such a wait first.
    UnexpectedView unexpected_view(const Awaited& awaited) const noexcept;

  private:
    // Yields at the start of a wait before messages are polled; see Waiter::yield_first.
    static constexpr int kYieldsBeforePolling = 2;

    // A message that is being fetched from the sender's memory in pieces.
    struct Fetch {
        Peer* from;
        RequestBody offer;
        ReceiveRequest* into;
        Bytes done;
    };

    // Receives that no message has matched.
    struct Posted {
        KeyedQueues queues;
        std::uint64_t with_wildcard = 0;
        std::uint64_t next_order = 1;
        ReceiveRequest* blocking = nullptr;  // a blocking call's receive; not in queues
    };
    // Announced messages that no receive has matched.
    struct Offers {
        std::size_t count = 0;                // those for which may_be_taken_in() is true
        std::vector<Unexpected*> spare_list;  // empty; its memory is for take_in_offers()
    };
    // Frames for grants and cancellations.
    struct ControlFrames {
        std::vector<std::unique_ptr<OutFrame>> storage;
        std::vector<OutFrame*> free;
    };
    // Long messages.
    struct Transfers {
        std::vector<Peer*> bursting;  // peers whose bursts are in progress
        std::optional<CopyMethod> forced_way;
    };
    struct Traffic {
        TrafficWords own;
        TrafficWords* words = &own;
    };
    // What is known of tasks that have ended.
    struct Ends {
        const NodeSegment* segment = nullptr;  // null: ends of tasks are not noticed
        LostMember lost_member;
        std::uint32_t seen = 0;
        std::vector<TaskId> tasks;  // of this node
        // Those that were not connected, and when this task noticed their ends.
        std::vector<std::pair<TaskId, std::chrono::steady_clock::time_point>> unconnected;
        bool fault_seen = false;      // a pipe is broken
        std::uint32_t questions = 0;  // calls of lost_partner() that needed lost_member
    };

    Peer& peer(TaskId task) {
        Peer* known = peers_[static_cast<std::size_t>(task)].get();
        return known != nullptr ? *known : make_peer(task);
    }
    Peer& make_peer(TaskId task);
    bool is_guest(TaskId task) const noexcept {
        return task >= 0 && static_cast<std::uint32_t>(task) >= settings_.tasks;
    }
    Awaited shown(Awaited awaited) const noexcept;
    void note_wait(const Awaited& awaited) const noexcept;
    bool on_input(Pipe& pipe) override;

    // For the trace and for watchers: a message is being sent, or has been received.
    std::uint32_t note_sent(Peer& to, FlowClass flow, std::int32_t type, Bytes bytes,
                            ContextId context);
    void note_received(const ReceiveRequest& request);

    // Sending (message_output.cpp).
    void finish_withdrawn(SendRequest& request);
    void begin(SendRequest& request);
    bool hand_over(Peer& to, class HandoverSender& out, const BufferView& view,
                   const FrameHeader& header);
    Outcome send_rest(Peer& peer, const FrameHeader& header, const BufferView& view, Bytes taken);
    void send_to_self(SendRequest& request);
    void receive_own(SendRequest& request, ReceiveRequest& receive);
    void queue_frame(Peer& peer, OutFrame& frame);
    bool pump(Peer& peer);
    bool pump_all();
    static bool begin_next(Peer& peer, struct FrameQueue& queue);
    bool push(Peer& peer, OutFrame& frame);
    void frame_sent(Peer& peer, OutFrame& frame);
    void send_granted_data(Peer& peer, SendRequest& request);
    void send_grant(TaskId source, std::uint32_t send_id, ReceiveRequest& into, Bytes bytes);
    void send_cancel(Peer& to, const SendRequest& request);
    template <typename Body>
    OutFrame& control_frame(FrameKind kind, ContextId context, FlowClass flow, const Body& body);

    // Receiving (message_input.cpp).
    bool receive_at_once(Peer& peer, const FrameHeader& header);
    bool receive_posted(Peer& peer, const FrameHeader& header);
    bool begin_frame(Peer& peer, const FrameHeader& header);
    bool begin_eager(Peer& peer, const FrameHeader& header);
    bool begin_data(Peer& peer, const FrameHeader& header);
    bool move_payload(Peer& peer);
    void finish_frame(Peer& peer);
    void handle_request(Peer& peer, const FrameHeader& header, const RequestBody& body);
    void handle_grant(Peer& peer, const GrantBody& body);
    void handle_cancel(Peer& peer, const FrameHeader& header, const CancelBody& body);
    void handle_cancelled(Peer& peer, const CancelBody& body);
    ReceiveRequest* find_match(ContextId context, TaskId source, std::int32_t type) const;
    ReceiveRequest* match(ContextId context, TaskId source, std::int32_t type);
    void unpost(ReceiveRequest& request);
    void matched(ReceiveRequest& request, TaskId source, std::int32_t type, Bytes length,
                 FlowClass flow, std::uint32_t number);
    void complete(ReceiveRequest& request, Outcome outcome);
    void abandon(SendRequest& request);
    void abandon(ReceiveRequest& request);
    Unexpected& keep(const MatchKey& from, FlowClass flow, Bytes length, Bytes cost, Bytes room,
                     std::uint32_t number);
    void take(Unexpected& message, ReceiveRequest& request);
    void deliver(Unexpected& message, ReceiveRequest& request);
    void copy_to(ReceiveRequest& request, const Unexpected& message);
    void drop(Unexpected* message);
    void break_pipe(Peer& peer, const char* reason);

    // Long messages (message_transfers.cpp).
    CopyMethod begin_transfer(Peer& from, ReceiveRequest& into);
    void end_transfer(Peer& from, ReceiveRequest& into);
    void abandon_transfer(ReceiveRequest& into);
    void accept_offer(Peer& from, const RequestBody& offer, ReceiveRequest& into);
    bool fetch_piece(Fetch& fetch);
    void fetch_next_piece();
    void take_in(Unexpected& offer);
    bool take_handover(Peer& from);
    void publish_cheaper(Peer& from, Bytes length);

    bool look(unsigned times);
    template <typename R>
    struct WaitForOne;
    struct WaitForAny;
    struct WaitForStore;
    template <typename Wait>
    void wait_among_threads(const Wait& wait);
    const ReceiveRequest& receive_among_threads(const BufferView& view, const MatchKey& wanted);
    template <typename Wait>
    void wait_until_over(const Outcome& outcome, const Wait& wait);
    bool wait_until_stored(const std::function<bool()>& over,
                           const std::function<Awaited()>& awaited,
                           const std::function<bool()>* give_up);
    bool nobody_can_send(const ReceiveRequest& request) const noexcept;
    void look_for_ends();
    void give_up_unconnected();
    TaskId lost_partner(TaskId peer, ContextId context, std::int32_t type);

    MatcherTables make_tables() const noexcept;

    MessageLayerSettings settings_;
    // Every wait and progress() read the members up to devices_, so they are next to each other:
    // if tasks share cores, each cache line that a wait reads must be loaded again.
    alignas(kLine) Waiter* waiter_;
    ThreadWaits* thread_waits_ = nullptr;  // null: one thread
    Helper* helper_ = nullptr;
    Helper* request_helper_ = nullptr;
    std::vector<Peer*> sending_;  // peers with queued frames
    std::vector<Fetch> fetches_;  // newest first; the last one is continued next
    std::vector<OtherInput*> other_inputs_;
    std::vector<Device*> devices_;
    std::function<Device&(TaskId)> device_of_;
    std::vector<std::unique_ptr<Peer>> peers_;  // by task id, created at first use
    UnexpectedPool pool_;
    Posted posted_;
    UnexpectedMessages unexpected_;
    ReceiveRequest blocking_receive_;   // used by receive()
    const Outcome* awaited_ = nullptr;  // outcome of the operation being waited for
    Offers offers_;
    Transfers transfers_;
    Bytes visited_ = 0;  // bytes moved for the peer being polled
    IdTable<SendRequest> sends_;
    IdTable<ReceiveRequest> receives_;
    ControlFrames control_frames_;
    Ends ends_;
    MatcherTables tables_;
    Traffic traffic_;
};

}  // namespace poe::comm
