// The references of the program; see ledger.hpp.
#include "mpi/check/ledger.hpp"

namespace poe::mpi::check {

void Ledger::acquire(const void* handle, const Source& source) {
    const std::lock_guard guard(lock_);
    sources_[handle].push_back(source);
}

void Ledger::release(const void* handle) noexcept {
    const std::lock_guard guard(lock_);
    const auto found = sources_.find(handle);
    if (found == sources_.end()) return;
    found->second.pop_back();
    if (found->second.empty()) sources_.erase(found);
}

std::map<Source, std::int64_t> Ledger::rest() {
    const std::lock_guard guard(lock_);
    std::map<Source, std::int64_t> rest;
    for (const auto& [handle, sources] : sources_)
        for (const Source& source : sources) ++rest[source];
    return rest;
}

Ledger& ledger() noexcept {
    static auto* const the_ledger = new Ledger;
    return *the_ledger;
}

}  // namespace poe::mpi::check
