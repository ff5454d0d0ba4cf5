// Info objects (MPI 5.0, chapter 10). They may be used at any time, also before MPI is initialized.
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <span>

#include "mpi/api/bodies.hpp"
#include "mpi/process/start_facts.hpp"

namespace poe::mpi {
namespace {

// A copy of the value, so that the lock is not held while the program's memory is written to; no
// value if the key is not set.
std::optional<std::string> value_of_key(MPI_Info info, const char* key) {
    Environment& mpi = environment();
    const Info* found = mpi.find_readable_info(info);
    const std::lock_guard guard(mpi.lock);
    const std::string* value = found->find(key);
    if (value == nullptr) return std::nullopt;
    return *value;
}

// Changes an Info that the program may change.
template <typename Change>
int change_info(Call& call, MPI_Info info, Change&& change) {
    Environment& mpi = environment();
    Info* found = mpi.find_info(info);
    if (found == nullptr) {
        return call.fail(MPI_ERR_INFO, "info", "MPI_INFO_ENV cannot be changed",
                         "change a copy made by MPI_Info_dup");
    }
    Fault fault;
    {
        const std::lock_guard guard(mpi.lock);
        fault = change(*found);
    }
    return call.finish(fault);
}

}  // namespace

int info_create(Call&, MPI_Info* info) {
    *info = handle_of<MPI_Info>(environment().infos.make());
    return MPI_SUCCESS;
}

int info_create_env(Call&, int argc, char** argv, MPI_Info* info) {
    Info& made = environment().infos.make();
    describe_start(start_facts(argc, argv), made);
    *info = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

int info_dup(Call&, MPI_Info info, MPI_Info* newinfo) {
    Environment& mpi = environment();
    const Info* from = mpi.find_readable_info(info);
    Info& made = mpi.infos.make();
    {
        const std::lock_guard guard(mpi.lock);
        made.copy_from(*from);
    }
    *newinfo = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

int info_free(Call& call, MPI_Info* info) {
    Environment& mpi = environment();
    Info* found = mpi.find_info(*info);
    if (found == nullptr) {
        return call.fail(MPI_ERR_INFO, "info",
                         *info == MPI_INFO_ENV    ? "MPI_INFO_ENV cannot be freed"
                         : *info == MPI_INFO_NULL ? "it is MPI_INFO_NULL"
                                                  : "it is no info, or was freed already");
    }
    mpi.infos.release(*found);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int info_set(Call& call, MPI_Info info, const char* key, const char* value) {
    // At most one character more than is allowed is read.
    const std::string_view text(value, ::strnlen(value, MPI_MAX_INFO_VAL));
    return change_info(call, info, [&](Info& found) { return found.set(key, text); });
}

int info_delete(Call& call, MPI_Info info, const char* key) {
    return change_info(call, info, [&](Info& found) { return found.remove(key); });
}

int info_get(Call& call, MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
    if (valuelen < 0) {
        return call.fail(MPI_ERR_ARG, "valuelen", std::to_string(valuelen) + " is negative");
    }
    const auto found = value_of_key(info, key);
    *flag = found ? 1 : 0;
    // The program's buffer has one character more than valuelen.
    if (found) copy_info_value(*found, {value, static_cast<std::size_t>(valuelen) + 1});
    return MPI_SUCCESS;
}

int info_get_string(Call& call, MPI_Info info, const char* key, int* buflen, char* value,
                    int* flag) {
    if (*buflen < 0) {
        return call.fail(MPI_ERR_ARG, "buflen", std::to_string(*buflen) + " is negative");
    }
    if (*buflen > 0 && value == nullptr) {
        return call.fail(MPI_ERR_ARG, "value", "it is a null pointer and buflen is not 0");
    }
    const auto found = value_of_key(info, key);
    *flag = found ? 1 : 0;
    if (!found) return MPI_SUCCESS;
    copy_info_value(*found, {value, static_cast<std::size_t>(*buflen)});
    *buflen = static_cast<int>(found->size()) + 1;
    return MPI_SUCCESS;
}

int info_get_valuelen(Call&, MPI_Info info, const char* key, int* valuelen, int* flag) {
    const auto found = value_of_key(info, key);
    *flag = found ? 1 : 0;
    if (found) *valuelen = static_cast<int>(found->size());
    return MPI_SUCCESS;
}

int info_get_nkeys(Call&, MPI_Info info, int* nkeys) {
    Environment& mpi = environment();
    const Info* found = mpi.find_readable_info(info);
    const std::lock_guard guard(mpi.lock);
    *nkeys = static_cast<int>(found->size());
    return MPI_SUCCESS;
}

int info_get_nthkey(Call& call, MPI_Info info, int n, char* key) {
    Environment& mpi = environment();
    const Info* found = mpi.find_readable_info(info);
    std::size_t keys = 0;
    {
        const std::lock_guard guard(mpi.lock);
        keys = found->size();
        if (n >= 0 && static_cast<std::size_t>(n) < keys) {
            copy_info_value(found->key(static_cast<std::size_t>(n)), {key, MPI_MAX_INFO_KEY});
            return MPI_SUCCESS;
        }
    }
    return call.fail(MPI_ERR_ARG, "n",
                     "there is no key number " + std::to_string(n) + ", the info has " +
                         std::to_string(keys) + " keys",
                     "count keys from 0");
}

}  // namespace poe::mpi
