// The open groups of a task (mpi_cc.h): what a control function has prepared, and the report of
// misuse. A group belongs to one kind of operation. Its number is its handle, and numbers are not
// used again before all have been used, so a handle of a closed group is noticed.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

#include "mpi/cc/mpi_cc.h"

namespace poe::mpi::cc {

// The arguments that must be the same in each call, with their names.
class Arguments {
  public:
    Arguments& add(const char* name, std::intptr_t value) {
        values_.emplace_back(name, value);
        return *this;
    }
    Arguments& add(const char* name, const void* value) {
        return add(name, reinterpret_cast<std::intptr_t>(value));
    }
    // `n` values; none if the array does not count at this member.
    Arguments& add(const char* name, const int values[], int n) {
        for (int i = 0; values != nullptr && i < n; ++i) add(name, std::intptr_t{values[i]});
        return *this;
    }
    // The name of the first argument that differs; null: all are the same.
    const char* difference(const Arguments& other) const;

  private:
    std::vector<std::pair<const char*, std::intptr_t>> values_;
};

struct Group {
    explicit Group(const char* its_operation, MPI_Comm its_comm)
        : operation(its_operation), comm(its_comm) {}
    virtual ~Group() = default;
    const char* operation;  // "Scatterv"
    MPI_Comm comm;          // of the program
};

// Takes the group and returns its handle. Any thread.
MPIX_Cc keep(std::unique_ptr<Group> group);
// Returns the open group of an operation; null, after a report, if there is none. `code` is the
// result of the function then. `function` is the name of the function without MPIX_.
Group* find(MPIX_Cc handle, const char* operation, const char* function, MPI_Comm comm, int& code);
// Closes a group and sets the handle to MPIX_CC_NULL.
int close(MPIX_Cc* handle, const char* operation);

// Reports misuse to the error handler of the communicator. Returns the error code if the handler
// does not end the program. `what` is a sentence part, as is `remedy`.
int refuse(MPI_Comm comm, const std::string& function, const std::string& what,
           const std::string& remedy);

}  // namespace poe::mpi::cc
