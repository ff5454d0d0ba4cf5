// The message layer: matching, eager and rendezvous protocols, requests, buffer memory. It sits on
// pipes and knows nothing of devices beyond pipe.hpp (SP2 communication subsystem, IBM Systems
// Journal 34/2).
//
// Protocols. Up to the eager limit a message travels as one kEager frame; a receiver that has not
// asked for it keeps it in buffer memory. Longer ones announce themselves (kRequest); the receiver
// answers with kGrant when a receive matches, and the bytes (kData) go straight from user memory to
// user memory through the pipe. Where the pipe can read the sender's memory, the receiver may fetch
// the bytes itself instead and then grants none (see fetch_choice.hpp). A task that has waited in
// vain for a while takes announced messages into buffer memory too, as far as it reaches: so two
// tasks that both send first get on, and a later message of the same sender can be received before
// an earlier one.
//
// Fair service. One look at a pipe (on_input, pump) moves at most about kBytesPerVisit bytes, and a
// longer message that is fetched is fetched in pieces of that size, one piece for each call of
// progress(). So all active pipes are looked at between two pieces, and a long message delays the
// messages of other tasks by one piece only (IBM Systems Journal 34/2, "fair service").
//
// Buffer memory is per pair of tasks: `buffer_mem` bytes for eager messages of each context (the
// sender holds tokens for them and waits when it has none) and as much again for announced ones.
//
// Matching is by context, source and type; a receive takes the oldest matching message of a source,
// a message takes the oldest matching receive (the stricter MPI rule; MPL allows it).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/segment/task_traffic.hpp"
#include "base/types.hpp"
#include "comm/matching/fetch_choice.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/matching/request.hpp"
#include "comm/matching/unexpected_pool.hpp"
#include "comm/progress/wait.hpp"

namespace poe::comm {

struct Peer;  // message_peer.hpp

struct MessageLayerSettings {
    TaskId me = 0;
    std::uint32_t tasks = 1;
    Bytes eager_limit = 0;
    Bytes buffer_mem = 0;
};

// Memory that every buffered message costs besides its bytes.
inline constexpr Bytes kMessageCost = 128;

// What is moved for one peer before the other peers are looked at.
inline constexpr Bytes kBytesPerVisit = 256 << 10;

// Not thread-safe: one thread at a time. May throw poe::Error when memory of the segment cannot be
// had.
class MessageLayer final : private PipeSink {
  public:
    // `device_of` answers which device reaches a task (never asked for oneself); it may throw
    // Error. `waiter` may be null only in a job of one task. Everything given must outlive the
    // layer.
    MessageLayer(const MessageLayerSettings& settings, std::vector<Device*> devices,
                 std::function<Device&(TaskId)> device_of, Waiter* waiter);
    ~MessageLayer() override;

    // From now on messages are counted there. It must outlive the layer.
    void count_in(TrafficWords& traffic) noexcept { traffic_ = &traffic; }

    // Starts an operation; never blocks. Fields to fill before: view, dest, type, context; for a
    // receive: view, wanted.
    void start(SendRequest& request);
    void start(ReceiveRequest& request);
    // Moves whatever can be moved, for each peer at most about kBytesPerVisit bytes. Never blocks.
    // Answers whether anything was.
    bool progress();
    // For a receive that does not block, just started: fetches the first pieces of a message that
    // was waiting for it, so that a message of up to a megabyte arrives before the call returns.
    void begin_fetching();
    // For who looks again and again and finds nothing: takes announced messages into buffer memory,
    // as a wait that lasts does, since what is looked for may be held up behind them. Never blocks.
    bool take_in_offers();
    // From now on `helper` is called while a wait lasts, and by help(), to go on with what else the
    // task has under way. It must not block, and answers whether it did anything. Empty: none. Its
    // argument is false where functions of the user's must not be called.
    void set_helper(std::function<bool(bool users_functions)> helper) {
        helper_ = std::move(helper);
    }
    bool help(bool users_functions = true) { return helper_ && helper_(users_functions); }
    // True if progress() or the helper have something under way.
    bool has_more_to_do() const noexcept {
        return helper_ || !sending_.empty() || !fetches_.empty();
    }
    // Blocks until the operation has ended.
    Outcome wait(SendRequest& request);
    Outcome wait(ReceiveRequest& request);
    // Blocks until a request has ended that tells `list`; the caller takes it out. `sweep` is
    // called while the wait lasts, to end requests that cannot go on (end_if_hopeless).
    void wait(FinishedList& list, const std::function<void()>& sweep);
    // Blocks until `over`, which is asked again and again; messages move meanwhile. `awaited` says
    // whom the wait is for, when somebody wants to know. For what ends by a store to shared memory:
    // who makes it must wake this task. No part of it allocates.
    void wait_until(const std::function<bool()>& over, const std::function<Awaited()>& awaited);
    // For waits that are spent elsewhere, for a daemon's answer: the begin of one, and each of its
    // looks, in which messages move. Never blocks.
    void begin_wait_elsewhere() noexcept;
    void look_elsewhere(const Awaited& awaited);
    // Ends the operation when its partner's pipe is broken, or when nobody can ever complete it.
    // Sends to oneself are an exception: only wait(SendRequest&) ends those, because this task may
    // still receive the message as long as it is not blocked in that wait.
    void end_if_hopeless(SendRequest& request);
    void end_if_hopeless(ReceiveRequest& request);
    // The oldest message that such a receive would take; null when there is none. Looks only at
    // what has arrived (call progress() before). It lives until the next call of anything else
    // here.
    const Unexpected* probe(const MatchKey& wanted) const noexcept;

    // The blocking calls, with a short way for the common case. kDone or why not.
    Outcome send(const BufferView& view, TaskId dest, std::int32_t type, Context context);
    // The answer lives until the next call.
    const ReceiveRequest& receive(const BufferView& view, const MatchKey& wanted);

    // For measurements: messages that could be fetched or streamed take that way, and not the one
    // that has been found cheaper. Empty: the cheaper one again.
    void take_long_way(std::optional<LongWay> way) noexcept { forced_way_ = way; }
    // The cheaper way for messages of that length between this task and `task`, as measured so far.
    LongWay cheaper_way(TaskId task, Bytes length);

    // Why the pipe to that task is broken; null when it is not.
    const char* fault_of(TaskId task) const noexcept;
    // Messages that have arrived or been announced and that nobody has received.
    std::size_t unexpected_messages() const noexcept { return unexpected_.size() / 4; }

  private:
    // A message that is being fetched out of the sender's memory, piece by piece.
    struct Fetch {
        Peer* from;
        RequestBody offer;
        ReceiveRequest* into;
        Bytes done;
    };

    Peer& peer(TaskId task) {
        Peer* known = peers_[static_cast<std::size_t>(task)].get();
        return known != nullptr ? *known : make_peer(task);
    }
    Peer& make_peer(TaskId task);
    bool on_input(Pipe& pipe) override;

    // For the trace and for watchers: a message is handed over, has been received.
    std::uint32_t note_sent(Peer& to, Context context, std::int32_t type, Bytes bytes);
    void note_received(const ReceiveRequest& request);

    // Sending (message_output.cpp).
    void begin(SendRequest& request);
    bool hand_over(Peer& to, class HandoverSender& out, const BufferView& view, std::int32_t type,
                   Context context);
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

    // Receiving (message_input.cpp).
    bool receive_at_once(Peer& peer, const FrameHeader& header);
    bool begin_frame(Peer& peer, const FrameHeader& header);
    bool begin_eager(Peer& peer, const FrameHeader& header);
    bool begin_data(Peer& peer, const FrameHeader& header);
    bool move_payload(Peer& peer);
    void finish_frame(Peer& peer);
    void handle_request(Peer& peer, const FrameHeader& header, const RequestBody& body);
    void handle_grant(Peer& peer, const GrantBody& body);
    void accept_offer(Peer& from, const RequestBody& offer, ReceiveRequest& into);
    bool fetch_piece(Fetch& fetch);
    void fetch_next_piece();
    bool take_handover(Peer& from);
    void note_cost(Peer& from, LongWay way, Bytes length, std::uint64_t began_ns);
    ReceiveRequest* find_match(Context context, TaskId source, std::int32_t type) const;
    ReceiveRequest* match(Context context, TaskId source, std::int32_t type);
    void matched(ReceiveRequest& request, TaskId source, std::int32_t type, Bytes length,
                 std::uint32_t number);
    void complete(ReceiveRequest& request, Outcome outcome);
    void cancel(SendRequest& request);
    void cancel(ReceiveRequest& request);
    Unexpected& keep(const MatchKey& from, Bytes length, Bytes cost, Bytes room,
                     std::uint32_t number);
    void take(Unexpected& message, ReceiveRequest& request);
    void copy_to(ReceiveRequest& request, const Unexpected& message);
    void drop(Unexpected* message);
    void take_in(Unexpected& offer);
    void break_pipe(Peer& peer, const char* reason);

    bool look(unsigned times);
    template <typename R>
    struct WaitForOne;
    struct WaitForAny;
    struct WaitForStore;
    template <typename Wait>
    void wait_until_over(const Outcome& outcome, const Wait& wait);
    bool nobody_can_send(const ReceiveRequest& request) const noexcept;

    // What watchers are told of a wait (message_notes.cpp).
    Awaited awaited_by(const SendRequest& request) const noexcept;
    Awaited awaited_by(const ReceiveRequest& request) const noexcept;
    UnexpectedView unexpected_view(TaskId partner) const noexcept;

    MessageLayerSettings settings_;
    std::vector<Device*> devices_;
    std::function<Device&(TaskId)> device_of_;
    Waiter* waiter_;
    std::function<bool(bool)> helper_;
    std::vector<std::unique_ptr<Peer>> peers_;  // by task id, made at first use
    std::vector<Peer*> sending_;                // with frames to send
    UnexpectedPool pool_;
    KeyedQueues posted_;
    KeyedQueues unexpected_;
    std::uint64_t posted_with_wildcard_ = 0;
    std::uint64_t next_order_ = 1;
    ReceiveRequest* blocking_ = nullptr;  // the one receive that is not in posted_: unmatched
    ReceiveRequest blocking_receive_;     // of receive()
    const Outcome* awaited_ = nullptr;    // of the operation being waited for
    std::size_t offers_ = 0;              // unexpected messages in state kOffered
    std::vector<Fetch> fetches_;          // the next one to go on with last
    std::optional<LongWay> forced_way_;
    Bytes visited_ = 0;  // bytes moved for the peer that is being looked at
    IdTable<SendRequest> sends_;
    IdTable<ReceiveRequest> receives_;
    std::vector<std::unique_ptr<OutFrame>> grant_storage_;
    std::vector<OutFrame*> free_grants_;
    TrafficWords own_traffic_;
    TrafficWords* traffic_ = &own_traffic_;
};

}  // namespace poe::comm
