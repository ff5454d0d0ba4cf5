// Implementation of state_words.hpp.
#include "partition_manager/job/state_words.hpp"

#include "base/contexts.hpp"
#include "base/suggest.hpp"

namespace poe::pm {

std::string communicator_in_words(std::uint32_t context, const std::string& name) {
    if (context < kFirstMpiContext) return "";
    // The program has chosen the name, so it may contain anything.
    if (!name.empty()) return " in " + visible(name);
    return context == kFirstMpiContext
               ? " in MPI_COMM_WORLD"
               : " in communicator " + std::to_string(context - kFirstMpiContext);
}

std::string communicator_in_words(const TaskState& state) {
    return communicator_in_words(state.doing.context, state.communicator);
}

std::string progress_in_words(const TaskState& state) {
    const CollectiveProgress& progress = state.awaited.progress;
    if (!state.measured || progress.path == CollectivePath::kUnknown) return "";
    std::string text = " by ";
    text += progress.path == CollectivePath::kSchedule ? "messages"
                                                       : collective_path_name(progress.path);
    if (progress.round == 0 || progress.rounds < 2) return text;
    text += progress.path == CollectivePath::kPlan ? ", phase " : ", round ";
    return text + std::to_string(progress.round) + " of " + std::to_string(progress.rounds);
}

}  // namespace poe::pm
