// Collective calls in check mode: all members agree on the call before it begins, and a wrong
// argument of one member is reported to all.
#pragma once

#include <functional>
#include <mpi.h>

#include "mpi/api/call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/check/agreement.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

using Composer = std::function<void(Sequence&)>;

// Makes a blocking call. Returns the error code after the report.
int complete_checked(Call& call, Comm& members, const Composer& compose);
// Makes the request of a non-blocking call. Null after a report.
Request* start_checked(Call& call, Comm& members, const Composer& compose);
// Makes a persistent request: the members agree once, when it is made, so this blocks. Null after a
// report.
Request* prepare_checked(Call& call, Comm& members, const Composer& compose);

// For calls that are no operation on data, such as those that make communicators: blocks until all
// members have described their call alike. Returns the error code after the report.
int agree_on(Call& call, Comm& members, const check::Description& description);
// The same if check mode is on; otherwise nothing. `fill` completes the description.
template <typename Fill>
int agree(Call& call, Comm& members, Fill&& fill) {
    if (!environment().checking) [[likely]]
        return MPI_SUCCESS;
    check::Description description = check::describe(call.function(), call.site());
    fill(description);
    return agree_on(call, members, description);
}
inline int agree(Call& call, Comm& members) {
    return agree(call, members, [](check::Description&) {});
}

// The operation of `work`, after an agreement.
WorkPtr after_agreement(Call& call, Comm& members, const check::Description& description,
                        WorkPtr work, check::Report report = report_for_all);

}  // namespace poe::mpi
