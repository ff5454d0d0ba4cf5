// Names of PMIx (PMIx_Publish, MPI_Publish_name) on the way to poe, which has the table of the
// whole job, and back. libpmix's values are converted to bytes, and back to values on another node.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <pmix_server.h>

#include "partition_manager/job/published_names.hpp"

namespace poe::pm {

// Approximate limit of the names and values of one request.
inline constexpr std::size_t kMostPmixNameBytes = std::size_t{4} << 20;

// Return the requests for poe, without the asker. Keys that begin with "pmix." are not names but
// set the options of the request. Throw Error if the names are too large, or if a value cannot be
// packed.
NameRequest pmix_publish(const pmix_proc_t& by, const pmix_info_t* info, std::size_t count);
NameRequest pmix_look_up(char** keys, const pmix_info_t* info, std::size_t count);
// No keys: withdraws everything that the task has published.
NameRequest pmix_withdraw(const pmix_proc_t& by, char** keys);

pmix_status_t pmix_status_of(NameReply::Status status);

// The answer to a look-up; owns the values until libpmix has read them. Invalid values are left
// out.
class PmixFound {
  public:
    explicit PmixFound(const NameReply& tell);
    PmixFound(const PmixFound&) = delete;
    PmixFound& operator=(const PmixFound&) = delete;
    ~PmixFound();

    std::vector<pmix_pdata_t> data;
};

}  // namespace poe::pm
