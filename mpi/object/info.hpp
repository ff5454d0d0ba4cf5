// Info: the ordered list of keys and values of MPI 5.0, chapter 10. Pure; a caller that shares an
// Info with other threads locks it.
#pragma once

#include <cstddef>
#include <mpi.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/object/fault.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

class Info : public Object {
  public:
    void reset() noexcept { entries_.clear(); }

    // Adds the key or replaces its value. Refuses an empty key, and a key or value that is longer
    // than MPI_MAX_INFO_KEY - 1 or MPI_MAX_INFO_VAL - 1 characters.
    Fault set(std::string_view key, std::string_view value);
    // Refuses a key that is not set.
    Fault remove(std::string_view key);
    // Null if the key is not set. Valid until the Info changes.
    const std::string* find(std::string_view key) const noexcept;

    std::size_t size() const noexcept { return entries_.size(); }
    // The keys in the order in which they were added. Precondition: n < size().
    const std::string& key(std::size_t n) const { return entries_[n].first; }
    const std::string& value(std::size_t n) const { return entries_[n].second; }

    void copy_from(const Info& other) { entries_ = other.entries_; }

  private:
    std::vector<std::pair<std::string, std::string>> entries_;
};

// Refuses a null key, an empty one, and one that is too long.
Fault check_info_key(const char* key);

// Copies the value to a buffer of `length` characters with the terminating null character,
// shortened if necessary. Does nothing if `length` is 0.
void copy_info_value(std::string_view value, std::span<char> buffer) noexcept;

// What the keys of MPI_INFO_ENV and MPI_Info_create_env say (section 11.2.1). An empty text leaves
// the key out.
struct StartFacts {
    std::string command;                 // the program
    std::vector<std::string> arguments;  // without the program
    std::string maxprocs;
    std::string host;
    std::string arch;
    std::string wdir;
    std::string thread_level;  // the name of the level, for example MPI_THREAD_SINGLE
};
void describe_start(const StartFacts& facts, Info& info);

}  // namespace poe::mpi
