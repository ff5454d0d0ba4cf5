// The error messages of the checks, and the end of a receive; see api_checks.hpp.
#include "comm/api/api_checks.hpp"

#include <climits>

#include "comm/api/by_reference.hpp"
#include "comm/api/mpproto.h"

namespace poe::comm {
namespace {

std::string signed_text(std::size_t number) {
    return std::to_string(static_cast<long long>(number));
}

}  // namespace

std::string task_range(const Runtime& runtime) {
    return runtime.tasks() == 1 ? "the only task is 0"
                                : "tasks are 0 to " + std::to_string(runtime.tasks() - 1);
}

int refuse_blocks(const ApiCall& call, const UserBuffer& buffer) {
    const bool blocks = buffer.count != 1;
    if (buffer.block >= kAbsurdLength) [[unlikely]] {
        return call.refuse(MplError::kLength,
                           "the length " + signed_text(buffer.block) + " is negative or absurd",
                           "give a number of bytes");
    }
    if (blocks) [[unlikely]] {
        if (buffer.count >= kAbsurdLength || buffer.offset >= kAbsurdLength ||
            (buffer.offset > 0 && buffer.count > kAbsurdLength / buffer.offset)) {
            return call.refuse(MplError::kLength,
                               signed_text(buffer.count) + " blocks, " +
                                   signed_text(buffer.offset) +
                                   " bytes apart, are negative or absurd",
                               "give the number of blocks and the bytes from the start of one to "
                               "the start of the next");
        }
        if (buffer.offset < buffer.block && buffer.count > 1) {
            return call.refuse(MplError::kLength,
                               "blocks of " + signed_text(buffer.block) +
                                   " bytes overlap when they start every " +
                                   signed_text(buffer.offset) + " bytes",
                               "make the offset at least the block length");
        }
    }
    if (buffer.start == nullptr && buffer.block > 0 && buffer.count > 0) [[unlikely]] {
        return call.refuse(MplError::kNullPointer,
                           "the buffer is a null pointer but the length is " +
                               signed_text(buffer.block * buffer.count),
                           "give the address of the message");
    }
    return 0;
}

int refuse_partner(const ApiCall& call, int dest, int type) {
    if (!is_task(call.runtime(), dest)) [[unlikely]] {
        return call.refuse(MplError::kDestination,
                           "there is no task " + std::to_string(dest) + " to send to",
                           task_range(call.runtime()));
    }
    if (type < 0) [[unlikely]] {
        return call.refuse(MplError::kType, "the type " + std::to_string(type) + " is negative",
                           "types are 0 to " + std::to_string(INT_MAX));
    }
    return 0;
}

int refuse_selection(const ApiCall& call, const int* source, const int* type) {
    if (source == nullptr || type == nullptr) [[unlikely]] {
        return call.refuse(
            MplError::kNullPointer,
            source == nullptr ? "source is a null pointer" : "type is a null pointer",
            "give the address of a variable that holds the wanted value or DONTCARE");
    }
    if (*source != DONTCARE && !is_task(call.runtime(), *source)) [[unlikely]] {
        return call.refuse(MplError::kSource,
                           "there is no task " + std::to_string(*source) + " to receive from",
                           task_range(call.runtime()) + ", DONTCARE means any");
    }
    if (*type != DONTCARE && *type < 0) [[unlikely]] {
        return call.refuse(MplError::kType, "the type " + std::to_string(*type) + " is negative",
                           "types are 0 to " + std::to_string(INT_MAX) + ", DONTCARE means any");
    }
    return 0;
}

int refuse_null(const ApiCall& call, const char* argument, const char* wanted) {
    return call.refuse(MplError::kNullPointer, std::string(argument) + " is a null pointer",
                       std::string("give the address of ") + wanted);
}

void refuse_missing(const char* name, const char* parameter) {
    const Caller caller(name);
    const ApiCall call(caller);
    if (call.ready()) {
        refuse_null(call, parameter, "an int");
    } else {
        call.refuse_unready();
    }
}

int tell_received(ApiCall& call, const ReceiveRequest& received, int* source, int* type,
                  const UserCount& nbytes) {
    if (received.outcome != Outcome::kDone) [[unlikely]]
        return call.refuse(received.outcome, received.source);
    if (call.traced()) [[unlikely]]
        call.moved(received.expected);
    if (source != nullptr) *source = received.source;
    if (type != nullptr) *type = received.type;
    if (!nbytes.store(static_cast<long long>(received.expected))) [[unlikely]] {
        return call.refuse(MplError::kCountTooSmall,
                           "the message has come, but its " + std::to_string(received.expected) +
                               " bytes do not fit into an integer of this width",
                           "make nbytes a size_t");
    }
    if (received.length > received.expected && call.runtime().overflow_is_error()) [[unlikely]] {
        return call.refuse(MplError::kTruncated,
                           "the message of " + std::to_string(received.length) + " bytes, type " +
                               std::to_string(received.type) + " from task " +
                               std::to_string(received.source) + ", was cut to the " +
                               std::to_string(received.expected) + " bytes of the buffer",
                           "give a larger buffer; mpc_task_set made this an error");
    }
    return 0;
}

}  // namespace poe::comm
