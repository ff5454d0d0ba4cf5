// The texts of the error classes, and the list of what the program has added.
#include "mpi/object/error_codes.hpp"

#include <algorithm>
#include <array>

namespace poe::mpi {
namespace {

struct Text {
    int number;
    std::string_view name;
    std::string_view text;
};

#define MPI_ERROR(name, text) \
    Text {                    \
        name, #name, text     \
    }

constexpr std::array kTexts = {
    MPI_ERROR(MPI_SUCCESS, "no error"),
    MPI_ERROR(MPI_ERR_BUFFER, "invalid buffer address"),
    MPI_ERROR(MPI_ERR_COUNT, "invalid count"),
    MPI_ERROR(MPI_ERR_TYPE, "invalid datatype"),
    MPI_ERROR(MPI_ERR_TAG, "invalid tag"),
    MPI_ERROR(MPI_ERR_COMM, "invalid communicator"),
    MPI_ERROR(MPI_ERR_RANK, "invalid rank"),
    MPI_ERROR(MPI_ERR_REQUEST, "invalid request"),
    MPI_ERROR(MPI_ERR_ROOT, "invalid root"),
    MPI_ERROR(MPI_ERR_GROUP, "invalid group"),
    MPI_ERROR(MPI_ERR_OP, "invalid reduction operation"),
    MPI_ERROR(MPI_ERR_TOPOLOGY, "invalid topology"),
    MPI_ERROR(MPI_ERR_DIMS, "invalid dimensions"),
    MPI_ERROR(MPI_ERR_ARG, "invalid argument"),
    MPI_ERROR(MPI_ERR_UNKNOWN, "unknown error"),
    MPI_ERROR(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
    MPI_ERROR(MPI_ERR_OTHER, "error of another kind"),
    MPI_ERROR(MPI_ERR_INTERN, "internal error of the library"),
    MPI_ERROR(MPI_ERR_PENDING, "request not completed yet"),
    MPI_ERROR(MPI_ERR_IN_STATUS, "error code is in the status"),
    MPI_ERROR(MPI_ERR_ACCESS, "permission denied"),
    MPI_ERROR(MPI_ERR_AMODE, "invalid access mode of a file"),
    MPI_ERROR(MPI_ERR_ASSERT, "invalid assertion"),
    MPI_ERROR(MPI_ERR_BAD_FILE, "invalid file name"),
    MPI_ERROR(MPI_ERR_BASE, "invalid base address of memory"),
    MPI_ERROR(MPI_ERR_CONVERSION, "error in a data conversion function"),
    MPI_ERROR(MPI_ERR_DISP, "invalid displacement"),
    MPI_ERROR(MPI_ERR_DUP_DATAREP, "data representation already defined"),
    MPI_ERROR(MPI_ERR_FILE_EXISTS, "file exists"),
    MPI_ERROR(MPI_ERR_FILE_IN_USE, "file is open in a process"),
    MPI_ERROR(MPI_ERR_FILE, "invalid file handle"),
    MPI_ERROR(MPI_ERR_INFO_KEY, "key of an info is too long or empty"),
    MPI_ERROR(MPI_ERR_INFO_NOKEY, "key of an info is not set"),
    MPI_ERROR(MPI_ERR_INFO_VALUE, "value of an info is too long"),
    MPI_ERROR(MPI_ERR_INFO, "invalid info"),
    MPI_ERROR(MPI_ERR_IO, "input or output error"),
    MPI_ERROR(MPI_ERR_KEYVAL, "invalid attribute key"),
    MPI_ERROR(MPI_ERR_LOCKTYPE, "invalid lock type"),
    MPI_ERROR(MPI_ERR_NAME, "service name is not published"),
    MPI_ERROR(MPI_ERR_NO_MEM, "out of memory"),
    MPI_ERROR(MPI_ERR_NOT_SAME, "arguments of the processes differ"),
    MPI_ERROR(MPI_ERR_NO_SPACE, "no space left on the device"),
    MPI_ERROR(MPI_ERR_NO_SUCH_FILE, "file does not exist"),
    MPI_ERROR(MPI_ERR_PORT, "invalid port name"),
    MPI_ERROR(MPI_ERR_QUOTA, "quota exceeded"),
    MPI_ERROR(MPI_ERR_READ_ONLY, "file or file system is read-only"),
    MPI_ERROR(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    MPI_ERROR(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    MPI_ERROR(MPI_ERR_RMA_RANGE, "target memory is not part of the window"),
    MPI_ERROR(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    MPI_ERROR(MPI_ERR_RMA_SYNC, "wrong synchronization of accesses to a window"),
    MPI_ERROR(MPI_ERR_SERVICE, "service name cannot be published or unpublished"),
    MPI_ERROR(MPI_ERR_SIZE, "invalid size"),
    MPI_ERROR(MPI_ERR_SPAWN, "processes could not be started"),
    MPI_ERROR(MPI_ERR_UNSUPPORTED_DATAREP, "data representation is not supported"),
    MPI_ERROR(MPI_ERR_UNSUPPORTED_OPERATION, "operation is not supported"),
    MPI_ERROR(MPI_ERR_WIN, "invalid window"),
    MPI_ERROR(MPI_ERR_RMA_FLAVOR, "wrong flavor of window"),
    MPI_ERROR(MPI_ERR_PROC_ABORTED, "a process has ended"),
    MPI_ERROR(MPI_ERR_VALUE_TOO_LARGE, "value does not fit into the result"),
    MPI_ERROR(MPI_ERR_SESSION, "invalid session"),
    MPI_ERROR(MPI_ERR_ERRHANDLER, "invalid error handler"),
    MPI_ERROR(MPI_ERR_ABI, "Fortran values of the binary interface are already set"),
    MPI_ERROR(MPI_T_ERR_CANNOT_INIT, "tools interface cannot be initialized"),
    MPI_ERROR(MPI_T_ERR_NOT_ACCESSIBLE, "functionality of the tools interface is not accessible"),
    MPI_ERROR(MPI_T_ERR_NOT_INITIALIZED, "tools interface is not initialized"),
    MPI_ERROR(MPI_T_ERR_NOT_SUPPORTED, "functionality of the tools interface is not supported"),
    MPI_ERROR(MPI_T_ERR_MEMORY, "tools interface is out of memory"),
    MPI_ERROR(MPI_T_ERR_INVALID, "invalid argument of the tools interface"),
    MPI_ERROR(MPI_T_ERR_INVALID_INDEX, "invalid index of a variable or category"),
    MPI_ERROR(MPI_T_ERR_INVALID_ITEM, "invalid index of an item"),
    MPI_ERROR(MPI_T_ERR_INVALID_SESSION, "invalid session of performance variables"),
    MPI_ERROR(MPI_T_ERR_INVALID_HANDLE, "invalid handle of the tools interface"),
    MPI_ERROR(MPI_T_ERR_INVALID_NAME, "name of a variable or category does not exist"),
    MPI_ERROR(MPI_T_ERR_OUT_OF_HANDLES, "no more handles of the tools interface"),
    MPI_ERROR(MPI_T_ERR_OUT_OF_SESSIONS, "no more sessions of the tools interface"),
    MPI_ERROR(MPI_T_ERR_CVAR_SET_NOT_NOW, "control variable cannot be set now"),
    MPI_ERROR(MPI_T_ERR_CVAR_SET_NEVER, "control variable cannot be set"),
    MPI_ERROR(MPI_T_ERR_PVAR_NO_WRITE, "performance variable cannot be written"),
    MPI_ERROR(MPI_T_ERR_PVAR_NO_STARTSTOP, "performance variable cannot be started or stopped"),
    MPI_ERROR(MPI_T_ERR_PVAR_NO_ATOMIC, "performance variable cannot be read and reset at once"),
    MPI_ERROR(MPI_ERR_LASTCODE, "last error code of the standard"),
};

#undef MPI_ERROR

const Text* find_text(int number) noexcept {
    const auto found = std::ranges::find(kTexts, number, &Text::number);
    return found == kTexts.end() ? nullptr : &*found;
}

}  // namespace

std::string_view error_class_name(int error_class) noexcept {
    const Text* text = find_text(error_class);
    return text == nullptr ? std::string_view{} : text->name;
}

std::optional<int> ErrorCodes::class_of(int code) const {
    if (find_text(code) != nullptr) return code;
    const auto found = added_.find(code);
    if (found == added_.end()) return std::nullopt;
    return found->second.error_class;
}

std::optional<std::string> ErrorCodes::text_of(int code) const {
    if (const Text* text = find_text(code)) {
        return std::string(text->name) + ": " + std::string(text->text);
    }
    const auto found = added_.find(code);
    if (found == added_.end()) return std::nullopt;
    return found->second.text.value_or("");
}

int ErrorCodes::next_number() const noexcept {
    return (added_.empty() ? MPI_ERR_LASTCODE : added_.rbegin()->first) + 1;
}

int ErrorCodes::add_class() {
    const int number = next_number();
    added_.emplace(number, Added{number, std::nullopt});
    last_used_ = number;
    return number;
}

Fault ErrorCodes::add_code(int error_class, int& code) {
    if (class_of(error_class) != error_class) {
        return {MPI_ERR_ARG, "errorclass", std::to_string(error_class) + " is no error class",
                "use a class of the standard or one made by MPI_Add_error_class"};
    }
    code = next_number();
    added_.emplace(code, Added{error_class, std::nullopt});
    last_used_ = code;
    return {};
}

Fault ErrorCodes::find_added(int code, const char* argument, bool is_class) const {
    const auto found = added_.find(code);
    if (found != added_.end() && (found->second.error_class == code) == is_class) return {};
    return {MPI_ERR_ARG, argument,
            std::to_string(code) + " is no error " + (is_class ? "class" : "code") +
                " that this program has added",
            ""};
}

Fault ErrorCodes::add_text(int code, std::string_view text) {
    const auto found = added_.find(code);
    if (found == added_.end()) {
        return {MPI_ERR_ARG, "errorcode",
                std::to_string(code) + " is no error class or code that this program has added",
                "the texts of the standard's codes cannot be changed"};
    }
    if (text.size() >= MPI_MAX_ERROR_STRING) {
        return {MPI_ERR_ARG, "string",
                "the text has " + std::to_string(text.size()) + " characters and the limit is " +
                    std::to_string(MPI_MAX_ERROR_STRING - 1),
                "use a shorter text"};
    }
    if (text.empty()) {
        found->second.text.reset();
    } else {
        found->second.text = text;
    }
    return {};
}

Fault ErrorCodes::remove_class(int error_class) {
    if (Fault fault = find_added(error_class, "errorclass", true)) return fault;
    for (const auto& [number, added] : added_) {
        if (number != error_class && added.error_class == error_class) {
            return {MPI_ERR_ARG, "errorclass",
                    "error code " + std::to_string(number) + " still belongs to the class",
                    "remove the codes of the class first"};
        }
    }
    if (added_.at(error_class).text) {
        return {MPI_ERR_ARG, "errorclass", "the class still has a text", "remove the text first"};
    }
    remove(error_class);
    return {};
}

Fault ErrorCodes::remove_code(int code) {
    if (Fault fault = find_added(code, "errorcode", false)) return fault;
    if (added_.at(code).text) {
        return {MPI_ERR_ARG, "errorcode", "the code still has a text", "remove the text first"};
    }
    remove(code);
    return {};
}

Fault ErrorCodes::remove_text(int code) {
    const auto found = added_.find(code);
    if (found == added_.end() || !found->second.text) {
        return {MPI_ERR_ARG, "errorcode",
                std::to_string(code) + " has no text that this program has added", ""};
    }
    found->second.text.reset();
    return {};
}

void ErrorCodes::remove(int number) {
    added_.erase(number);
    last_used_ = next_number() - 1;
}

}  // namespace poe::mpi
