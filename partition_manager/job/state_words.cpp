// Implementation of state_words.hpp.
#include "partition_manager/job/state_words.hpp"

#include "base/contexts.hpp"
#include "base/suggest.hpp"

namespace poe::pm {

std::string communicator_in_words(std::uint32_t context, const std::string& name) {
    if (context < kFirstMpiContext) return "";
    // Programs choose the name.
    if (!name.empty()) return " in " + visible(name);
    return context == kFirstMpiContext
               ? " in MPI_COMM_WORLD"
               : " in communicator " + std::to_string(context - kFirstMpiContext);
}

std::string communicator_in_words(const TaskState& state) {
    return communicator_in_words(state.doing.context, state.communicator);
}

}  // namespace poe::pm
