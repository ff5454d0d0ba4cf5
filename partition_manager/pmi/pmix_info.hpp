// Lists of libpmix's pmix_info_t with ownership and types. libpmix takes the name of a C type with
// each value, and a wrong name is undefined behaviour; here the C++ type of the value selects it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pmix_server.h>

namespace poe::pm {

// libpmix's own types, distinct from plain numbers and texts.
struct PmixRank {
    pmix_rank_t value;
};
struct PmixRegex {
    const char* value;  // from PMIx_generate_regex or PMIx_generate_ppn; copied when added
};

// Owns its elements; not copyable. An element can itself be a list (a data array).
class PmixInfo {
  public:
    PmixInfo() = default;
    PmixInfo(const PmixInfo&) = delete;
    PmixInfo& operator=(const PmixInfo&) = delete;
    PmixInfo(PmixInfo&& other) noexcept;
    PmixInfo& operator=(PmixInfo&&) = delete;
    ~PmixInfo();

    void add(const char* key, const std::string& value);
    void add(const char* key, std::uint32_t value);
    void add(const char* key, std::uint16_t value);
    void add(const char* key, PmixRank value);
    void add(const char* key, PmixRegex value);
    void add(const char* key, const pmix_proc_t& value);
    void add(const char* key, PmixInfo value);

    pmix_info_t* data() { return items_.data(); }
    std::size_t size() const { return items_.size(); }

  private:
    void load(const char* key, const void* value, pmix_data_type_t type);
    std::vector<pmix_info_t> items_;
};

// Returns the name of a status, such as "SUCCESS".
std::string pmix_error_text(pmix_status_t status);

}  // namespace poe::pm
