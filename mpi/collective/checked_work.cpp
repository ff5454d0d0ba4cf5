// Operations after an agreement; see checked_work.hpp.
#include "mpi/collective/checked_work.hpp"

namespace poe::mpi {

bool CheckedWork::advance(comm::MessageLayer& messages) {
    if (!agreed_) {
        if (!agreement_->advance()) return false;
        agreed_ = true;
        if (agreement_->fault() || work_ == nullptr) return true;
        work_->start(messages);
    }
    return work_->advance(messages);
}

Awaited CheckedWork::awaited(const comm::MessageLayer& messages) {
    return agreed_ && work_ != nullptr ? work_->awaited(messages) : agreement_->awaited();
}

Fault CheckedWork::result() {
    if (agreement_->fault()) return agreement_->fault();
    return work_ != nullptr ? work_->result() : Fault{};
}

}  // namespace poe::mpi
