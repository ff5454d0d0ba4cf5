// Operations: a task's nonblocking sends and receives, under the message ids of MPL. It is separate
// from the message layer, which knows requests but neither ids nor what was reported to the user,
// and from the API, which checks arguments.
//
// The states of a message id:
//   1. started;
//   2. finished: the message layer has completed the operation;
//   3. reported (`told`): mpc_status has reported the end, any number of times;
//   4. ended, by mpc_wait.
// A program that only calls mpc_status never ends its ids, so only the newest kToldKept reported
// operations are kept.
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
    bool told = false;  // mpc_status has reported the end
    int id = 0;
    SendRequest send;
    ReceiveRequest receive;
    int* source = nullptr;              // the user's variable, set when a receive ends
    int* type = nullptr;                // likewise
    RcvncallHandler handler = nullptr;  // of mpc_rcvncall
    bool handler_due = false;           // until the handler has been called
    Operation* next = nullptr;          // in open_, handled_ or told_
    Operation* previous = nullptr;

    Request& request() noexcept {
        return kind == Kind::kSend ? static_cast<Request&>(send) : static_cast<Request&>(receive);
    }
    bool finished() const noexcept {
        return (kind == Kind::kSend ? send.outcome : receive.outcome) != Outcome::kPending;
    }
    // The peer task: the destination, or the source if it is known; otherwise a wildcard.
    TaskId partner() const noexcept {
        if (kind == Kind::kSend) return send.dest;
        return receive.source >= 0 ? receive.source : receive.wanted.source;
    }
    std::int32_t message_type() const noexcept {
        return kind == Kind::kSend ? send.type : receive.wanted.type;
    }
    // 0 for a receive that has not been matched.
    Bytes length() const noexcept {
        if (kind == Kind::kSend) return send.view.size();
        return receive.source >= 0 ? receive.expected : 0;
    }
};

// One thread at a time. Operations never move while they exist.
class Operations {
  public:
    explicit Operations(MessageLayer& messages) : messages_(messages) {}
    Operations(const Operations&) = delete;
    Operations& operator=(const Operations&) = delete;

    // Starts an operation; never blocks. The user's buffer, source and type must remain valid until
    // the id is ended.
    Operation& send(const BufferView& view, TaskId dest, std::int32_t type);
    Operation& receive(const BufferView& view, int* source, int* type, RcvncallHandler handler);

    // Returns null for an id that was never given out or has been ended.
    Operation* find(int id) const noexcept;
    // Blocks until the operation has finished.
    void wait(Operation& operation);
    // Blocks until any operation without a handler has finished, and returns the first that
    // finished. If the only operations left have been reported by mpc_status, returns the oldest of
    // these. Null: no operations are left.
    Operation* wait_any();
    // Records that mpc_status has reported the end of the operation.
    void set_told(Operation& operation);
    // Ends the id. Precondition: the operation has finished.
    void end(Operation& operation);

    // Returns any operation without a handler that has not been ended, finished or not; null if
    // there is none.
    Operation* any() const noexcept { return open_.head != nullptr ? open_.head : told_.head; }

    // Returns the next operation that has finished and whose handler is due; it counts as an
    // ordinary operation from then on. Null if there is none.
    Operation* next_for_handler() noexcept;
    bool handlers_due() const noexcept { return for_handlers_.head != nullptr; }
    // True if a receive has a handler that has not been called.
    bool has_handlers() const noexcept { return handled_.head != nullptr; }
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
    List open_;  // not reported, without a handler
    List told_;
    List handled_;               // with a handler that has not been called
    FinishedList finished_;      // finished operations of open_
    FinishedList for_handlers_;  // finished operations of handled_
};

}  // namespace poe::comm
