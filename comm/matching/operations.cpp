// Message ids and their operations; see operations.hpp.
#include "comm/matching/operations.hpp"

#include "base/check.hpp"

namespace poe::comm {

void Operations::List::push(Operation& operation) noexcept {
    operation.next = nullptr;
    operation.previous = tail;
    (tail != nullptr ? tail->next : head) = &operation;
    tail = &operation;
    ++size;
}

void Operations::List::remove(Operation& operation) noexcept {
    (operation.previous != nullptr ? operation.previous->next : head) = operation.next;
    (operation.next != nullptr ? operation.next->previous : tail) = operation.previous;
    --size;
}

// An operation is reused without being built anew, because that takes longer than a short message.
// Each kind of request sets the fields that it reads.
Operation& Operations::make(Operation::Kind kind) {
    if (free_.empty()) {
        Operation& made = storage_.emplace_back();
        made.send.owner = &made;
        made.receive.owner = &made;
        free_.push_back(&made);
    }
    Operation& operation = *free_.back();
    free_.pop_back();
    operation.kind = kind;
    operation.told = false;
    operation.handler_due = false;
    operation.handler = nullptr;
    operation.id = static_cast<int>(ids_.add(operation));
    return operation;
}

Operation& Operations::send(const BufferView& view, TaskId dest, std::int32_t type) {
    Operation& operation = make(Operation::Kind::kSend);
    operation.send.reset();
    operation.send.view = view;
    operation.send.dest = dest;
    operation.send.type = type;
    operation.send.tell = &finished_;
    open_.push(operation);
    messages_.start(operation.send);
    return operation;
}

Operation& Operations::receive(const BufferView& view, int* source, int* type,
                               RcvncallHandler handler) {
    Operation& operation = make(Operation::Kind::kReceive);
    operation.receive.reset(view, {kMplContext, *source, *type});
    operation.receive.tell = handler != nullptr ? &for_handlers_ : &finished_;
    operation.source = source;
    operation.type = type;
    operation.handler = handler;
    operation.handler_due = handler != nullptr;
    (handler != nullptr ? handled_ : open_).push(operation);
    messages_.start(operation.receive);
    messages_.begin_fetching();
    return operation;
}

Operation* Operations::find(int id) const noexcept {
    return id > 0 ? ids_.find(static_cast<std::uint32_t>(id)) : nullptr;
}

void Operations::wait(Operation& operation) {
    if (operation.kind == Operation::Kind::kSend) {
        messages_.wait(operation.send);
    } else {
        messages_.wait(operation.receive);
    }
}

// If all open operations are sends to this task itself, a wait for any of them would never end.
void Operations::end_sends_to_self_if_alone() {
    if (finished_.head != nullptr) return;
    for (const Operation* each = open_.head; each != nullptr; each = each->next) {
        if (each->kind != Operation::Kind::kSend || each->send.kept == nullptr) return;
    }
    messages_.wait(open_.head->send);
}

Operation* Operations::wait_any() {
    if (open_.head == nullptr) return told_.head;
    end_sends_to_self_if_alone();
    messages_.wait(finished_, [this] {
        for (Operation* each = open_.head; each != nullptr; each = each->next) {
            if (each->kind == Operation::Kind::kSend) {
                messages_.end_if_hopeless(each->send);
            } else {
                messages_.end_if_hopeless(each->receive);
            }
        }
    });
    return static_cast<Operation*>(finished_.head->owner);
}

void Operations::set_told(Operation& operation) {
    if (operation.told || operation.handler_due) return;
    operation.told = true;
    finished_.remove(operation.request());
    open_.remove(operation);
    told_.push(operation);
    if (told_.size > kToldKept) end(*told_.head);
}

void Operations::end(Operation& operation) {
    POE_CHECK(operation.finished(), operation.id);
    if (operation.told) {
        told_.remove(operation);
    } else if (operation.handler_due) {
        for_handlers_.remove(operation.request());
        handled_.remove(operation);
    } else {
        finished_.remove(operation.request());
        open_.remove(operation);
    }
    ids_.remove(static_cast<std::uint32_t>(operation.id));
    operation.id = 0;
    free_.push_back(&operation);
}

Operation* Operations::next_for_handler() noexcept {
    if (for_handlers_.head == nullptr) return nullptr;
    Request& request = *for_handlers_.head;
    auto& operation = *static_cast<Operation*>(request.owner);
    for_handlers_.remove(request);
    handled_.remove(operation);
    operation.handler_due = false;
    open_.push(operation);
    finished_.push(request);
    return &operation;
}

}  // namespace poe::comm
