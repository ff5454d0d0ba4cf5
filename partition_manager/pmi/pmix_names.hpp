// Names of PMIx (PMIx_Publish, MPI_Publish_name) on their way to poe, which has the table of the
// whole job, and back: libpmix's values become bytes, and values again on another node.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <pmix_server.h>

#include "partition_manager/job/published_names.hpp"

namespace poe::pm {

// The names and values of one request, about.
inline constexpr std::size_t kMostPmixNameBytes = std::size_t{4} << 20;

// The questions for poe, but for Asker. What is asked for beside names (keys that begin with
// "pmix.") becomes their settings. Throw Error when there are too many of them, or a value cannot
// be packed.
NameRequest pmix_publish(const pmix_proc_t& by, const pmix_info_t* info, std::size_t count);
NameRequest pmix_look_up(char** keys, const pmix_info_t* info, std::size_t count);
// No keys: all that the task has published.
NameRequest pmix_withdraw(const pmix_proc_t& by, char** keys);

pmix_status_t pmix_status_of(NameReply::Status status);

// An answer to a look-up, owned until libpmix has read it. Values that are none are left out.
class PmixFound {
  public:
    explicit PmixFound(const NameReply& tell);
    PmixFound(const PmixFound&) = delete;
    PmixFound& operator=(const PmixFound&) = delete;
    ~PmixFound();

    std::vector<pmix_pdata_t> data;
};

}  // namespace poe::pm
