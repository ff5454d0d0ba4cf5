// Operations: the non-blocking sends and receives of a task, under the message ids that MPL gives
// out. Apart from the message layer, which knows requests but neither ids nor what the user wants
// to be told, and from the API, which checks arguments.
//
// The life of a message id: started; finished (the message layer is done with it); then told by
// mpc_status, any number of times, and ended by mpc_wait. A program that only ever asks mpc_status
// never ends its ids, so of the told ones only the newest kToldKept are remembered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "comm/matching/message_layer.hpp"
#include "comm/matching/request.hpp"

namespace poe::comm {

using RcvncallHandler = void (*)(int* msgid);

struct Operation {
    enum class Kind : std::uint8_t { kSend, kReceive } kind = Kind::kSend;
    bool told = false;  // by mpc_status
    int id = 0;
    SendRequest send;
    ReceiveRequest receive;
    int* source = nullptr;              // the user's, told with the end of a receive
    int* type = nullptr;                // likewise
    RcvncallHandler handler = nullptr;  // of mpc_rcvncall
    bool handler_due = false;           // until it has been called
    Operation* next = nullptr;  // among the unfinished and finished but not told, or the told
    Operation* previous = nullptr;

    Request& request() noexcept {
        return kind == Kind::kSend ? static_cast<Request&>(send) : static_cast<Request&>(receive);
    }
    bool finished() const noexcept {
        return (kind == Kind::kSend ? send.outcome : receive.outcome) != Outcome::kPending;
    }
    // The task it is for: the destination, or the source as far as it is known.
    TaskId partner() const noexcept {
        if (kind == Kind::kSend) return send.dest;
        return receive.source >= 0 ? receive.source : receive.wanted.source;
    }
    std::int32_t message_type() const noexcept {
        return kind == Kind::kSend ? send.type : receive.wanted.type;
    }
    Bytes length() const noexcept {
        return kind == Kind::kSend ? send.view.size() : receive.expected;
    }
};

// One thread at a time. Operations never move while they live.
class Operations {
  public:
    explicit Operations(MessageLayer& messages) : messages_(messages) {}
    Operations(const Operations&) = delete;
    Operations& operator=(const Operations&) = delete;

    // Starts one; never blocks. The user's buffer, source and type must live until the id is ended.
    Operation& send(const BufferView& view, TaskId dest, std::int32_t type);
    Operation& receive(const BufferView& view, int* source, int* type, RcvncallHandler handler);

    // Null for an id that was never given out, or is ended.
    Operation* find(int id) const noexcept;
    // Blocks until it has finished.
    void wait(Operation& operation);
    // Blocks until any has finished that has no handler; answers the one that finished first. When
    // only operations are left that mpc_status has told, the oldest of these. Null: none are left.
    Operation* wait_any();
    // Remembers that the user knows of the end.
    void set_told(Operation& operation);
    // Ends the id. The operation must have finished.
    void end(Operation& operation);

    // Any that is not ended and has no handler, finished or not; null when there is none.
    Operation* any() const noexcept { return open_.head != nullptr ? open_.head : told_.head; }

    // The next operation that has finished and waits for its handler to be called; it counts as an
    // ordinary one from then on. Null when there is none.
    Operation* next_for_handler() noexcept;
    bool handlers_due() const noexcept { return for_handlers_.head != nullptr; }
    // True if there are operations that have not been waited for.
    bool any_open() const noexcept { return open_.head != nullptr || handled_.head != nullptr; }

  private:
    void end_sends_to_self_if_alone();
    struct List {
        Operation* head = nullptr;
        Operation* tail = nullptr;
        std::size_t size = 0;
        void push(Operation& operation) noexcept;
        void remove(Operation& operation) noexcept;
    };
    static constexpr std::size_t kToldKept = 4096;

    Operation& make(Operation::Kind kind);

    MessageLayer& messages_;
    IdTable<Operation> ids_;
    std::deque<Operation> storage_;
    std::vector<Operation*> free_;
    List open_;  // not told, no handler
    List told_;
    List handled_;               // with a handler that has not been called
    FinishedList finished_;      // of open_
    FinishedList for_handlers_;  // of handled_
};

}  // namespace poe::comm
