// Converts values of libpmix to bytes; see pmix_names.hpp.
#include "partition_manager/pmi/pmix_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <pmix.h>

#include "base/error.hpp"
#include "partition_manager/pmi/pmix_info.hpp"

namespace poe::pm {

namespace {

// Separates the names of PMIx from those of PMI-1, because their values have different formats.
constexpr std::string_view kPrefix = "pmix ";

bool is_setting(const pmix_info_t& info) {
    return std::string_view(info.key).starts_with("pmix.");
}

std::string prefixed(std::string_view key) {
    return std::string(kPrefix).append(key);
}

std::string packed(const pmix_value_t& value) {
    pmix_data_buffer_t buffer;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    const pmix_status_t status =
        PMIx_Data_pack(nullptr, &buffer, const_cast<pmix_value_t*>(&value), 1, PMIX_VALUE);
    std::string bytes;
    if (status == PMIX_SUCCESS) bytes.assign(buffer.base_ptr, buffer.bytes_used);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    if (status != PMIX_SUCCESS) throw Error("libpmix: data_pack: " + pmix_error_text(status));
    return bytes;
}

bool unpack(const std::string& bytes, pmix_value_t& value) {
    pmix_byte_object_t blob;
    blob.bytes = static_cast<char*>(std::malloc(std::max<std::size_t>(bytes.size(), 1)));
    blob.size = bytes.size();
    if (blob.bytes == nullptr) return false;
    std::copy(bytes.begin(), bytes.end(), blob.bytes);
    pmix_data_buffer_t buffer;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    std::int32_t count = 1;
    const bool good =
        PMIx_Data_load(&buffer, &blob) == PMIX_SUCCESS &&
        PMIx_Data_unpack(nullptr, &buffer, &value, &count, PMIX_VALUE) == PMIX_SUCCESS;
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return good;
}

// "poe-job 3"; namespaces contain no blanks.
std::string proc_text(const pmix_proc_t& proc) {
    return std::string(proc.nspace) + " " + std::to_string(proc.rank);
}

pmix_proc_t proc_of(std::string_view text) {
    const std::size_t blank = std::min(text.rfind(' '), text.size());
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    std::from_chars(text.data() + std::min(blank + 1, text.size()), text.data() + text.size(),
                    rank);
    pmix_proc_t proc;
    PMIX_PROC_LOAD(&proc, std::string(text.substr(0, blank)).c_str(), rank);
    return proc;
}

// One request must fit into one message to poe, whatever a task requests.
void check_size(const NameRequest& ask) {
    std::size_t bytes = 0;
    for (const NamedValue& one : ask.names)
        bytes += sizeof one + one.name.size() + one.value.size();
    if (bytes > kMostPmixNameBytes)
        throw Error(std::to_string(bytes) + " bytes at once, of which poe takes " +
                    std::to_string(kMostPmixNameBytes));
}

void add_keys(NameRequest& ask, char** keys) {
    for (; keys != nullptr && *keys != nullptr; ++keys)
        ask.names.push_back({prefixed(*keys), {}, {}});
    check_size(ask);
}

}  // namespace

NameRequest pmix_publish(const pmix_proc_t& by, const pmix_info_t* info, std::size_t count) {
    NameRequest ask;
    ask.what = NameRequest::What::kPublish;
    ask.by = proc_text(by);
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_PERSISTENCE))
            ask.once = info[i].value.type == PMIX_PERSIST &&
                       info[i].value.data.persist == PMIX_PERSIST_FIRST_READ;
        if (!is_setting(info[i]))
            ask.names.push_back({prefixed(info[i].key), packed(info[i].value), {}});
    }
    check_size(ask);
    return ask;
}

NameRequest pmix_look_up(char** keys, const pmix_info_t* info, std::size_t count) {
    NameRequest ask;
    for (std::size_t i = 0; i < count; ++i)
        if (PMIX_CHECK_KEY(&info[i], PMIX_WAIT))
            ask.waits = info[i].value.type != PMIX_BOOL || info[i].value.data.flag;
    add_keys(ask, keys);
    return ask;
}

NameRequest pmix_withdraw(const pmix_proc_t& by, char** keys) {
    NameRequest ask;
    ask.what = NameRequest::What::kWithdraw;
    ask.by = proc_text(by);
    add_keys(ask, keys);
    return ask;
}

pmix_status_t pmix_status_of(NameReply::Status status) {
    switch (status) {
        case NameReply::Status::kDone:
            return PMIX_SUCCESS;
        case NameReply::Status::kSome:
            return PMIX_ERR_PARTIAL_SUCCESS;
        case NameReply::Status::kUnknown:
            return PMIX_ERR_NOT_FOUND;
        case NameReply::Status::kTaken:
            return PMIX_ERR_DUPLICATE_KEY;
        case NameReply::Status::kTooMany:
            break;
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

PmixFound::PmixFound(const NameReply& tell) {
    for (const NamedValue& one : tell.names) {
        pmix_pdata_t& item = data.emplace_back();
        PMIX_PDATA_CONSTRUCT(&item);
        item.proc = proc_of(one.by);
        PMIX_LOAD_KEY(item.key, one.name.substr(kPrefix.size()).c_str());
        if (!unpack(one.value, item.value)) data.pop_back();
    }
}

PmixFound::~PmixFound() {
    for (pmix_pdata_t& item : data) PMIX_PDATA_DESTRUCT(&item);
}

}  // namespace poe::pm
