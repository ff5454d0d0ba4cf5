// Stores typed values in libpmix's lists. libpmix makes all copies and frees them.
#include "partition_manager/pmi/pmix_info.hpp"

#include <utility>

#include <pmix.h>

namespace poe::pm {

PmixInfo::PmixInfo(PmixInfo&& other) noexcept : items_(std::exchange(other.items_, {})) {}

PmixInfo::~PmixInfo() {
    for (pmix_info_t& item : items_) PMIX_INFO_DESTRUCT(&item);
}

void PmixInfo::load(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t& item = items_.emplace_back();
    PMIX_INFO_CONSTRUCT(&item);
    PMIX_INFO_LOAD(&item, key, value, type);
}

void PmixInfo::add(const char* key, const std::string& value) {
    load(key, value.c_str(), PMIX_STRING);
}
void PmixInfo::add(const char* key, std::uint32_t value) {
    load(key, &value, PMIX_UINT32);
}
void PmixInfo::add(const char* key, std::uint16_t value) {
    load(key, &value, PMIX_UINT16);
}
void PmixInfo::add(const char* key, PmixRank value) {
    load(key, &value.value, PMIX_PROC_RANK);
}

void PmixInfo::add(const char* key, const pmix_proc_t& value) {
    load(key, &value, PMIX_PROC);
}

void PmixInfo::add(const char* key, PmixRegex value) {
    load(key, value.value, PMIX_REGEX);
}

void PmixInfo::add(const char* key, PmixInfo value) {
    pmix_data_array_t array;
    array.type = PMIX_INFO;
    array.size = value.size();
    array.array = value.data();
    load(key, &array, PMIX_DATA_ARRAY);  // copies the list
}

std::string pmix_error_text(pmix_status_t status) {
    return PMIx_Error_string(status);
}

}  // namespace poe::pm
