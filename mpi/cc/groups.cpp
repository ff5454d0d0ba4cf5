// See groups.hpp.
#include "mpi/cc/groups.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace poe::mpi::cc {
namespace {

// The groups of the process. Never destroyed: a group that is still open when the program ends must
// not call MPI any more.
struct Groups {
    std::mutex mutex;
    std::map<MPIX_Cc, std::unique_ptr<Group>> open;
    MPIX_Cc next = 0;
    int code = MPI_SUCCESS;  // for reports; made at first use
};
Groups& groups() {
    static Groups& all = *new Groups;
    return all;
}

int code_for(const std::string& text) {
    Groups& all = groups();
    const std::lock_guard lock(all.mutex);
    if (all.code == MPI_SUCCESS && MPI_Add_error_code(MPI_ERR_ARG, &all.code) != MPI_SUCCESS)
        return MPI_ERR_ARG;
    // A later report replaces the text.
    MPI_Add_error_string(all.code, text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
    return all.code;
}

}  // namespace

const char* Arguments::difference(const Arguments& other) const {
    const auto [mine, theirs] =
        std::mismatch(values_.begin(), values_.end(), other.values_.begin(), other.values_.end(),
                      [](const auto& a, const auto& b) {
                          return a.second == b.second && std::strcmp(a.first, b.first) == 0;
                      });
    if (mine != values_.end()) return mine->first;
    return theirs != other.values_.end() ? theirs->first : nullptr;
}

MPIX_Cc keep(std::unique_ptr<Group> group) {
    Groups& all = groups();
    const std::lock_guard lock(all.mutex);
    while (all.open.count(all.next) != 0) all.next = all.next == 0x7fffffff ? 0 : all.next + 1;
    const MPIX_Cc handle = all.next;
    all.open.emplace(handle, std::move(group));
    all.next = handle == 0x7fffffff ? 0 : handle + 1;
    return handle;
}

Group* find(MPIX_Cc handle, const char* operation, const char* function, MPI_Comm comm, int& code) {
    Group* found = nullptr;
    {
        Groups& all = groups();
        const std::lock_guard lock(all.mutex);
        const auto at = all.open.find(handle);
        if (at != all.open.end()) found = at->second.get();
    }
    const std::string group = "group " + std::to_string(handle);
    if (handle == MPIX_CC_NULL) {
        code = refuse(comm, function, "the group is MPIX_CC_NULL", "open a group first");
    } else if (found == nullptr) {
        code = refuse(comm, function, group + " is not open: it was closed, or never opened",
                      "open a group first, and close it once");
    } else if (std::strcmp(found->operation, operation) != 0) {
        code = refuse(comm, function,
                      group + " was opened for " + found->operation + ", not for " + operation,
                      "use a group with the functions of its own operation");
    } else if (comm != MPI_COMM_NULL && comm != found->comm) {
        code = refuse(comm, function, group + " was opened on another communicator",
                      "give the communicator of the open call");
    } else {
        return found;
    }
    return nullptr;
}

int close(MPIX_Cc* handle, const char* operation) {
    const std::string function = std::string(operation) + "_close_group";
    if (handle == nullptr)
        return refuse(MPI_COMM_SELF, function, "the pointer to the group is null",
                      "give the address of the group's handle");
    int code = MPI_SUCCESS;
    if (find(*handle, operation, function.c_str(), MPI_COMM_NULL, code) == nullptr) return code;
    std::unique_ptr<Group> closed;
    {
        Groups& all = groups();
        const std::lock_guard lock(all.mutex);
        const auto at = all.open.find(*handle);
        closed = std::move(at->second);
        all.open.erase(at);
    }
    *handle = MPIX_CC_NULL;
    return MPI_SUCCESS;
}

int refuse(MPI_Comm comm, const std::string& function, const std::string& what,
           const std::string& remedy) {
    const MPI_Comm reported = comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm;
    const int code = code_for("MPIX_" + function + ": " + what + "; " + remedy);
    MPI_Comm_call_errhandler(reported, code);
    return code;
}

}  // namespace poe::mpi::cc
