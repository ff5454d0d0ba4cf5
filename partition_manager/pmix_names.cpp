// The table behind publish and look-up; values are deep copies made by libpmix.
#include "partition_manager/pmix_names.hpp"

#include <string_view>

#include <pmix.h>

namespace poe::pm {

namespace {

bool is_setting(const pmix_info_t& info) {
    return std::string_view(info.key).starts_with("pmix.");
}

}  // namespace

PmixFound::~PmixFound() {
    for (pmix_pdata_t& item : data) PMIX_PDATA_DESTRUCT(&item);
}

PmixNames::~PmixNames() {
    for (auto& [key, entry] : entries_) PMIX_VALUE_DESTRUCT(&entry.value);
}

pmix_status_t PmixNames::publish(const pmix_proc_t& by, const pmix_info_t* info,
                                 std::size_t count) {
    if (entries_.size() + count > kMaxNames) return PMIX_ERR_OUT_OF_RESOURCE;
    for (std::size_t i = 0; i < count; ++i)
        if (!is_setting(info[i]) && entries_.contains(info[i].key)) return PMIX_ERR_DUPLICATE_KEY;
    for (std::size_t i = 0; i < count; ++i) {
        if (is_setting(info[i])) continue;
        Entry entry;
        entry.by = by;
        PMIX_VALUE_CONSTRUCT(&entry.value);
        const pmix_status_t status = PMIx_Value_xfer(&entry.value, &info[i].value);
        if (status != PMIX_SUCCESS) return status;
        if (!entries_.emplace(info[i].key, entry).second) PMIX_VALUE_DESTRUCT(&entry.value);
    }
    return PMIX_SUCCESS;
}

void PmixNames::look_up(const std::vector<std::string>& keys, PmixFound& found) const {
    for (const std::string& key : keys) {
        const auto at = entries_.find(key);
        if (at == entries_.end()) continue;
        pmix_pdata_t& item = found.data.emplace_back();
        PMIX_PDATA_CONSTRUCT(&item);
        item.proc = at->second.by;
        PMIX_LOAD_KEY(item.key, key.c_str());
        if (PMIx_Value_xfer(&item.value, &at->second.value) != PMIX_SUCCESS) found.data.pop_back();
    }
    if (found.data.empty()) return;
    found.status = found.data.size() == keys.size() ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

pmix_status_t PmixNames::unpublish(const pmix_proc_t& by, const std::vector<std::string>& keys) {
    std::size_t removed = 0;
    for (auto at = entries_.begin(); at != entries_.end();) {
        bool wanted = keys.empty() && PMIX_CHECK_PROCID(&at->second.by, &by);
        for (const std::string& key : keys) wanted = wanted || key == at->first;
        if (!wanted) {
            ++at;
            continue;
        }
        PMIX_VALUE_DESTRUCT(&at->second.value);
        at = entries_.erase(at);
        ++removed;
    }
    return removed > 0 || keys.empty() ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

std::vector<std::string> pmix_key_list(char** keys) {
    std::vector<std::string> list;
    for (; keys != nullptr && *keys != nullptr; ++keys) list.emplace_back(*keys);
    return list;
}

}  // namespace poe::pm
