// Describes parts of a task's state in words, for displays. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/segment/task_activity.hpp"
#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

// Returns the word for the type of a message: MPL calls it type, MPI calls it tag.
inline const char* type_word(Call call) noexcept {
    return is_mpi(call) ? "tag" : "type";
}
// Returns " type 5" or " tag 5".
inline std::string type_in_words(const TaskActivity& doing) {
    return std::string(" ") + type_word(doing.call) + " " + std::to_string(doing.type);
}

// Returns the name that the program gave to the communicator, or its number: " in MPI_COMM_WORLD",
// " in communicator 7". Empty for calls without a communicator, such as all of MPL.
std::string communicator_in_words(std::uint32_t context, const std::string& name);
// The same for the communicator of the task's call.
std::string communicator_in_words(const TaskState& state);

// Returns how the collective call in which the task waits is carried out: " by multicast", " by
// messages, round 3 of 15". Empty if that is not known.
std::string progress_in_words(const TaskState& state);

}  // namespace poe::pm
