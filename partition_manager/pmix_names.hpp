// What tasks publish and look up (PMIx_Publish, MPI_Publish_name): one table per node and job.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <pmix_server.h>

namespace poe::pm {

// An answer to a look-up, owned until libpmix has read it.
class PmixFound {
  public:
    PmixFound() = default;
    PmixFound(const PmixFound&) = delete;
    PmixFound& operator=(const PmixFound&) = delete;
    ~PmixFound();

    pmix_status_t status = PMIX_ERR_NOT_FOUND;
    std::vector<pmix_pdata_t> data;
};

// Not thread-safe: libpmix asks on one thread. Bounded: kMaxNames values.
class PmixNames {
  public:
    static constexpr std::size_t kMaxNames = 1U << 16;

    PmixNames() = default;
    PmixNames(const PmixNames&) = delete;
    PmixNames& operator=(const PmixNames&) = delete;
    ~PmixNames();

    // All of the values (but for the request's own settings, whose keys begin with "pmix."), or
    // none: PMIX_ERR_DUPLICATE_KEY when one is there already.
    pmix_status_t publish(const pmix_proc_t& by, const pmix_info_t* info, std::size_t count);

    // PMIX_SUCCESS with all, PMIX_ERR_PARTIAL_SUCCESS with some, PMIX_ERR_NOT_FOUND with none.
    void look_up(const std::vector<std::string>& keys, PmixFound& found) const;

    // Those keys, or with none given all that the task has published.
    pmix_status_t unpublish(const pmix_proc_t& by, const std::vector<std::string>& keys);

  private:
    struct Entry {
        pmix_proc_t by;
        pmix_value_t value;
    };
    std::map<std::string, Entry> entries_;
};

// A NULL-terminated list of C strings, or NULL.
std::vector<std::string> pmix_key_list(char** keys);

}  // namespace poe::pm
