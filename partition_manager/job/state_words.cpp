// Implementation of state_words.hpp.
#include "partition_manager/job/state_words.hpp"

#include "base/contexts.hpp"
#include "base/suggest.hpp"

namespace poe::pm {

std::string communicator_in_words(const TaskState& state) {
    const std::uint32_t context = state.doing.context;
    if (context < kFirstMpiContext) return "";
    // Programs choose the name.
    if (!state.communicator.empty()) return " in " + visible(state.communicator);
    return context == kFirstMpiContext
               ? " in MPI_COMM_WORLD"
               : " in communicator " + std::to_string(context - kFirstMpiContext);
}

}  // namespace poe::pm
