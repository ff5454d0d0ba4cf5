// The collective calls with all arguments by reference: mp_bcast and similar names for C programs
// translated from Fortran, mp_bcast_ and similar names for Fortran itself.
#include "collectives/api/api_groups.hpp"
#include "collectives/api/api_operations.hpp"
#include "comm/api/api_call.hpp"
#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"

using namespace poe::collectives;

namespace {

// A negative length becomes a length that is refused.
std::size_t length_of(const int* length) {
    return static_cast<std::size_t>(static_cast<long long>(*length));
}

// If one of the numbers is a null pointer, reports which and returns false.
struct Number {
    const int* address;
    const char* argument;
};
bool numbers_are_there(const char* name, std::initializer_list<Number> numbers) {
    for (const Number& number : numbers) {
        if (number.address != nullptr) continue;
        const poe::comm::Caller caller(name);
        const poe::comm::ApiCall call(caller);
        if (!call.ready()) {
            call.refuse_unready();
        } else {
            poe::comm::refuse_null(call, number.argument, "an int");
        }
        return false;
    }
    return true;
}

}  // namespace

extern "C" {

MPL_EXPORT int mp_bcast(void* buf, int* len, int* root, int* gid) {
    if (!numbers_are_there("mp_bcast", {{len, "len"}, {root, "root"}, {gid, "gid"}})) return -1;
    return api_bcast("mp_bcast", buf, length_of(len), *root, *gid, kBlocking);
}

MPL_EXPORT int mp_reduce(const void* out, void* in, int* len, int* root, mpl_reduction func,
                         int* gid) {
    if (!numbers_are_there("mp_reduce", {{len, "len"}, {root, "root"}, {gid, "gid"}})) return -1;
    return api_reduce("mp_reduce", out, in, length_of(len), *root, func, *gid, kBlocking);
}

MPL_EXPORT int mp_combine(const void* out, void* in, int* len, mpl_reduction func, int* gid) {
    if (!numbers_are_there("mp_combine", {{len, "len"}, {gid, "gid"}})) return -1;
    return api_combine("mp_combine", out, in, length_of(len), func, *gid, kBlocking);
}

MPL_EXPORT int mp_prefix(const void* out, void* in, int* len, mpl_reduction func, int* gid) {
    if (!numbers_are_there("mp_prefix", {{len, "len"}, {gid, "gid"}})) return -1;
    return api_prefix("mp_prefix", out, in, length_of(len), func, *gid, kBlocking);
}

MPL_EXPORT int mp_scatter(const void* out, void* in, int* blklen, int* root, int* gid) {
    if (!numbers_are_there("mp_scatter", {{blklen, "blklen"}, {root, "root"}, {gid, "gid"}}))
        return -1;
    return api_scatter("mp_scatter", out, in, length_of(blklen), *root, *gid, kBlocking);
}

MPL_EXPORT int mp_gather(const void* out, void* in, int* blklen, int* root, int* gid) {
    if (!numbers_are_there("mp_gather", {{blklen, "blklen"}, {root, "root"}, {gid, "gid"}}))
        return -1;
    return api_gather("mp_gather", out, in, length_of(blklen), *root, *gid, kBlocking);
}

MPL_EXPORT int mp_concat(const void* out, void* in, int* blklen, int* gid) {
    if (!numbers_are_there("mp_concat", {{blklen, "blklen"}, {gid, "gid"}})) return -1;
    return api_concat("mp_concat", out, in, length_of(blklen), *gid, kBlocking);
}

MPL_EXPORT int mp_index(const void* out, void* in, int* blklen, int* gid) {
    if (!numbers_are_there("mp_index", {{blklen, "blklen"}, {gid, "gid"}})) return -1;
    return api_index("mp_index", out, in, length_of(blklen), *gid, kBlocking);
}

MPL_EXPORT int mp_shift(const void* out, void* in, int* len, int* step, int* flag, int* gid) {
    if (!numbers_are_there("mp_shift",
                           {{len, "len"}, {step, "step"}, {flag, "flag"}, {gid, "gid"}}))
        return -1;
    return api_shift("mp_shift", out, in, length_of(len), *step, *flag, *gid, kBlocking);
}

MPL_EXPORT int mp_sync(int* gid) {
    if (!numbers_are_there("mp_sync", {{gid, "gid"}})) return -1;
    return api_sync("mp_sync", *gid, kBlocking);
}

MPL_EXPORT int mp_scatterv(const void* out, void* in, const int* blklens, int* root, int* gid) {
    if (!numbers_are_there("mp_scatterv", {{root, "root"}, {gid, "gid"}})) return -1;
    return api_scatterv("mp_scatterv", out, in, blklens, *root, *gid, kBlocking);
}

MPL_EXPORT int mp_gatherv(const void* out, void* in, const int* blklens, int* root, int* gid) {
    if (!numbers_are_there("mp_gatherv", {{root, "root"}, {gid, "gid"}})) return -1;
    return api_gatherv("mp_gatherv", out, in, blklens, *root, *gid, kBlocking);
}

MPL_EXPORT int mp_concatv(const void* out, void* in, const int* blklens, int* gid) {
    if (!numbers_are_there("mp_concatv", {{gid, "gid"}})) return -1;
    return api_concatv("mp_concatv", out, in, blklens, *gid, kBlocking);
}

MPL_EXPORT int mp_indexv(const void* out, const int* outlens, void* in, const int* inlens,
                         int* gid) {
    if (!numbers_are_there("mp_indexv", {{gid, "gid"}})) return -1;
    return api_indexv("mp_indexv", out, outlens, in, inlens, *gid, kBlocking);
}

MPL_EXPORT int mp_ibcast(void* buf, int* len, int* root, int* gid, int* collid) {
    if (!numbers_are_there("mp_ibcast", {{len, "len"}, {root, "root"}, {gid, "gid"}})) return -1;
    return api_bcast("mp_ibcast", buf, length_of(len), *root, *gid, {false, collid});
}

MPL_EXPORT int mp_ireduce(const void* out, void* in, int* len, int* root, mpl_reduction func,
                          int* gid, int* collid) {
    if (!numbers_are_there("mp_ireduce", {{len, "len"}, {root, "root"}, {gid, "gid"}})) return -1;
    return api_reduce("mp_ireduce", out, in, length_of(len), *root, func, *gid, {false, collid});
}

MPL_EXPORT int mp_icombine(const void* out, void* in, int* len, mpl_reduction func, int* gid,
                           int* collid) {
    if (!numbers_are_there("mp_icombine", {{len, "len"}, {gid, "gid"}})) return -1;
    return api_combine("mp_icombine", out, in, length_of(len), func, *gid, {false, collid});
}

MPL_EXPORT int mp_iprefix(const void* out, void* in, int* len, mpl_reduction func, int* gid,
                          int* collid) {
    if (!numbers_are_there("mp_iprefix", {{len, "len"}, {gid, "gid"}})) return -1;
    return api_prefix("mp_iprefix", out, in, length_of(len), func, *gid, {false, collid});
}

MPL_EXPORT int mp_iscatter(const void* out, void* in, int* blklen, int* root, int* gid,
                           int* collid) {
    if (!numbers_are_there("mp_iscatter", {{blklen, "blklen"}, {root, "root"}, {gid, "gid"}}))
        return -1;
    return api_scatter("mp_iscatter", out, in, length_of(blklen), *root, *gid, {false, collid});
}

MPL_EXPORT int mp_igather(const void* out, void* in, int* blklen, int* root, int* gid,
                          int* collid) {
    if (!numbers_are_there("mp_igather", {{blklen, "blklen"}, {root, "root"}, {gid, "gid"}}))
        return -1;
    return api_gather("mp_igather", out, in, length_of(blklen), *root, *gid, {false, collid});
}

MPL_EXPORT int mp_iconcat(const void* out, void* in, int* blklen, int* gid, int* collid) {
    if (!numbers_are_there("mp_iconcat", {{blklen, "blklen"}, {gid, "gid"}})) return -1;
    return api_concat("mp_iconcat", out, in, length_of(blklen), *gid, {false, collid});
}

MPL_EXPORT int mp_iindex(const void* out, void* in, int* blklen, int* gid, int* collid) {
    if (!numbers_are_there("mp_iindex", {{blklen, "blklen"}, {gid, "gid"}})) return -1;
    return api_index("mp_iindex", out, in, length_of(blklen), *gid, {false, collid});
}

MPL_EXPORT int mp_ishift(const void* out, void* in, int* len, int* step, int* flag, int* gid,
                         int* collid) {
    if (!numbers_are_there("mp_ishift",
                           {{len, "len"}, {step, "step"}, {flag, "flag"}, {gid, "gid"}}))
        return -1;
    return api_shift("mp_ishift", out, in, length_of(len), *step, *flag, *gid, {false, collid});
}

MPL_EXPORT int mp_isync(int* gid, int* collid) {
    if (!numbers_are_there("mp_isync", {{gid, "gid"}})) return -1;
    return api_sync("mp_isync", *gid, {false, collid});
}

MPL_EXPORT int mp_iscatterv(const void* out, void* in, const int* blklens, int* root, int* gid,
                            int* collid) {
    if (!numbers_are_there("mp_iscatterv", {{root, "root"}, {gid, "gid"}})) return -1;
    return api_scatterv("mp_iscatterv", out, in, blklens, *root, *gid, {false, collid});
}

MPL_EXPORT int mp_igatherv(const void* out, void* in, const int* blklens, int* root, int* gid,
                           int* collid) {
    if (!numbers_are_there("mp_igatherv", {{root, "root"}, {gid, "gid"}})) return -1;
    return api_gatherv("mp_igatherv", out, in, blklens, *root, *gid, {false, collid});
}

MPL_EXPORT int mp_iconcatv(const void* out, void* in, const int* blklens, int* gid, int* collid) {
    if (!numbers_are_there("mp_iconcatv", {{gid, "gid"}})) return -1;
    return api_concatv("mp_iconcatv", out, in, blklens, *gid, {false, collid});
}

MPL_EXPORT int mp_iindexv(const void* out, const int* outlens, void* in, const int* inlens,
                          int* gid, int* collid) {
    if (!numbers_are_there("mp_iindexv", {{gid, "gid"}})) return -1;
    return api_indexv("mp_iindexv", out, outlens, in, inlens, *gid, {false, collid});
}

MPL_EXPORT int mp_collwait(int* collid) {
    return api_collwait("mp_collwait", collid);
}

MPL_EXPORT int mp_colltest(int* collid, int* done) {
    if (!numbers_are_there("mp_colltest", {{collid, "collid"}})) return -1;
    return api_colltest("mp_colltest", *collid, done);
}

MPL_EXPORT int mp_group(int* gsize, const int* glist, int* label, int* gid) {
    if (!numbers_are_there("mp_group", {{gsize, "gsize"}, {label, "label"}})) return -1;
    return api_group("mp_group", *gsize, glist, *label, gid);
}

MPL_EXPORT int mp_partition(int* parent_gid, int* key, int* label, int* gid) {
    if (!numbers_are_there("mp_partition",
                           {{parent_gid, "parent_gid"}, {key, "key"}, {label, "label"}}))
        return -1;
    return api_partition("mp_partition", *parent_gid, *key, *label, gid);
}

MPL_EXPORT int mp_freegroup(int* gid) {
    if (!numbers_are_there("mp_freegroup", {{gid, "gid"}})) return -1;
    return api_freegroup("mp_freegroup", *gid);
}

MPL_EXPORT int mp_getsize(int* gsize, int* gid) {
    if (!numbers_are_there("mp_getsize", {{gid, "gid"}})) return -1;
    return api_getsize("mp_getsize", gsize, *gid);
}

MPL_EXPORT int mp_getmembers(int* glist, int* gid) {
    if (!numbers_are_there("mp_getmembers", {{gid, "gid"}})) return -1;
    return api_getmembers("mp_getmembers", glist, *gid);
}

MPL_EXPORT int mp_getrank(int* rank, int* taskid, int* gid) {
    if (!numbers_are_there("mp_getrank", {{taskid, "taskid"}, {gid, "gid"}})) return -1;
    return api_getrank("mp_getrank", rank, *taskid, *gid);
}

MPL_EXPORT int mp_gettaskid(int* rank, int* taskid, int* gid) {
    if (!numbers_are_there("mp_gettaskid", {{rank, "rank"}, {gid, "gid"}})) return -1;
    return api_gettaskid("mp_gettaskid", *rank, taskid, *gid);
}

MPL_EXPORT int mp_getlabel(int* label, int* gid) {
    if (!numbers_are_there("mp_getlabel", {{gid, "gid"}})) return -1;
    return api_getlabel("mp_getlabel", label, *gid);
}

MPL_EXPORT int mp_form2dgrid(int* gid, int* x, int* y, int* row, int* column) {
    if (!numbers_are_there("mp_form2dgrid", {{gid, "gid"}, {x, "x"}, {y, "y"}})) return -1;
    return api_form2dgrid("mp_form2dgrid", *gid, *x, *y, row, column);
}

MPL_EXPORT int mp_formgrid(int* gid, int* ndims, const int* dims, int* gids) {
    if (!numbers_are_there("mp_formgrid", {{gid, "gid"}, {ndims, "ndims"}})) return -1;
    return api_formgrid("mp_formgrid", *gid, *ndims, dims, gids);
}

MPL_EXPORT int mp_formsubcube(int* gid, int* mask, int* subcube) {
    if (!numbers_are_there("mp_formsubcube", {{gid, "gid"}, {mask, "mask"}})) return -1;
    return api_formsubcube("mp_formsubcube", *gid, *mask, subcube);
}

MPL_EXPORT int mp_rank2grid(int* rank, int* ndims, const int* dims, int* coords) {
    if (!numbers_are_there("mp_rank2grid", {{rank, "rank"}, {ndims, "ndims"}})) return -1;
    return api_rank2grid("mp_rank2grid", *rank, *ndims, dims, coords);
}

MPL_EXPORT int mp_grid2rank(const int* coords, int* ndims, const int* dims, int* rank) {
    if (!numbers_are_there("mp_grid2rank", {{ndims, "ndims"}})) return -1;
    return api_grid2rank("mp_grid2rank", coords, *ndims, dims, rank);
}

MPL_EXPORT int mp_rank2gray(int* rank, int* gray) {
    if (!numbers_are_there("mp_rank2gray", {{rank, "rank"}})) return -1;
    return api_rank2gray("mp_rank2gray", *rank, gray);
}

MPL_EXPORT int mp_gray2rank(int* gray, int* rank) {
    if (!numbers_are_there("mp_gray2rank", {{gray, "gray"}})) return -1;
    return api_gray2rank("mp_gray2rank", *gray, rank);
}

// The Fortran subroutines.

MPL_EXPORT void mp_bcast_(void* buf, int* len, int* root, int* gid) {
    mp_bcast(buf, len, root, gid);
}

MPL_EXPORT void mp_reduce_(const void* out, void* in, int* len, int* root, mpl_reduction func,
                           int* gid) {
    mp_reduce(out, in, len, root, func, gid);
}

MPL_EXPORT void mp_combine_(const void* out, void* in, int* len, mpl_reduction func, int* gid) {
    mp_combine(out, in, len, func, gid);
}

MPL_EXPORT void mp_prefix_(const void* out, void* in, int* len, mpl_reduction func, int* gid) {
    mp_prefix(out, in, len, func, gid);
}

MPL_EXPORT void mp_scatter_(const void* out, void* in, int* blklen, int* root, int* gid) {
    mp_scatter(out, in, blklen, root, gid);
}

MPL_EXPORT void mp_gather_(const void* out, void* in, int* blklen, int* root, int* gid) {
    mp_gather(out, in, blklen, root, gid);
}

MPL_EXPORT void mp_concat_(const void* out, void* in, int* blklen, int* gid) {
    mp_concat(out, in, blklen, gid);
}

MPL_EXPORT void mp_index_(const void* out, void* in, int* blklen, int* gid) {
    mp_index(out, in, blklen, gid);
}

MPL_EXPORT void mp_shift_(const void* out, void* in, int* len, int* step, int* flag, int* gid) {
    mp_shift(out, in, len, step, flag, gid);
}

MPL_EXPORT void mp_sync_(int* gid) {
    mp_sync(gid);
}

MPL_EXPORT void mp_scatterv_(const void* out, void* in, const int* blklens, int* root, int* gid) {
    mp_scatterv(out, in, blklens, root, gid);
}

MPL_EXPORT void mp_gatherv_(const void* out, void* in, const int* blklens, int* root, int* gid) {
    mp_gatherv(out, in, blklens, root, gid);
}

MPL_EXPORT void mp_concatv_(const void* out, void* in, const int* blklens, int* gid) {
    mp_concatv(out, in, blklens, gid);
}

MPL_EXPORT void mp_indexv_(const void* out, const int* outlens, void* in, const int* inlens,
                           int* gid) {
    mp_indexv(out, outlens, in, inlens, gid);
}

MPL_EXPORT void mp_ibcast_(void* buf, int* len, int* root, int* gid, int* collid) {
    mp_ibcast(buf, len, root, gid, collid);
}

MPL_EXPORT void mp_ireduce_(const void* out, void* in, int* len, int* root, mpl_reduction func,
                            int* gid, int* collid) {
    mp_ireduce(out, in, len, root, func, gid, collid);
}

MPL_EXPORT void mp_icombine_(const void* out, void* in, int* len, mpl_reduction func, int* gid,
                             int* collid) {
    mp_icombine(out, in, len, func, gid, collid);
}

MPL_EXPORT void mp_iprefix_(const void* out, void* in, int* len, mpl_reduction func, int* gid,
                            int* collid) {
    mp_iprefix(out, in, len, func, gid, collid);
}

MPL_EXPORT void mp_iscatter_(const void* out, void* in, int* blklen, int* root, int* gid,
                             int* collid) {
    mp_iscatter(out, in, blklen, root, gid, collid);
}

MPL_EXPORT void mp_igather_(const void* out, void* in, int* blklen, int* root, int* gid,
                            int* collid) {
    mp_igather(out, in, blklen, root, gid, collid);
}

MPL_EXPORT void mp_iconcat_(const void* out, void* in, int* blklen, int* gid, int* collid) {
    mp_iconcat(out, in, blklen, gid, collid);
}

MPL_EXPORT void mp_iindex_(const void* out, void* in, int* blklen, int* gid, int* collid) {
    mp_iindex(out, in, blklen, gid, collid);
}

MPL_EXPORT void mp_ishift_(const void* out, void* in, int* len, int* step, int* flag, int* gid,
                           int* collid) {
    mp_ishift(out, in, len, step, flag, gid, collid);
}

MPL_EXPORT void mp_isync_(int* gid, int* collid) {
    mp_isync(gid, collid);
}

MPL_EXPORT void mp_iscatterv_(const void* out, void* in, const int* blklens, int* root, int* gid,
                              int* collid) {
    mp_iscatterv(out, in, blklens, root, gid, collid);
}

MPL_EXPORT void mp_igatherv_(const void* out, void* in, const int* blklens, int* root, int* gid,
                             int* collid) {
    mp_igatherv(out, in, blklens, root, gid, collid);
}

MPL_EXPORT void mp_iconcatv_(const void* out, void* in, const int* blklens, int* gid, int* collid) {
    mp_iconcatv(out, in, blklens, gid, collid);
}

MPL_EXPORT void mp_iindexv_(const void* out, const int* outlens, void* in, const int* inlens,
                            int* gid, int* collid) {
    mp_iindexv(out, outlens, in, inlens, gid, collid);
}

MPL_EXPORT void mp_collwait_(int* collid) {
    mp_collwait(collid);
}

MPL_EXPORT void mp_colltest_(int* collid, int* done) {
    mp_colltest(collid, done);
}

MPL_EXPORT void mp_group_(int* gsize, const int* glist, int* label, int* gid) {
    mp_group(gsize, glist, label, gid);
}

MPL_EXPORT void mp_partition_(int* parent_gid, int* key, int* label, int* gid) {
    mp_partition(parent_gid, key, label, gid);
}

MPL_EXPORT void mp_freegroup_(int* gid) {
    mp_freegroup(gid);
}

MPL_EXPORT void mp_getsize_(int* gsize, int* gid) {
    mp_getsize(gsize, gid);
}

MPL_EXPORT void mp_getmembers_(int* glist, int* gid) {
    mp_getmembers(glist, gid);
}

MPL_EXPORT void mp_getrank_(int* rank, int* taskid, int* gid) {
    mp_getrank(rank, taskid, gid);
}

MPL_EXPORT void mp_gettaskid_(int* rank, int* taskid, int* gid) {
    mp_gettaskid(rank, taskid, gid);
}

MPL_EXPORT void mp_getlabel_(int* label, int* gid) {
    mp_getlabel(label, gid);
}

MPL_EXPORT void mp_form2dgrid_(int* gid, int* x, int* y, int* row, int* column) {
    mp_form2dgrid(gid, x, y, row, column);
}

MPL_EXPORT void mp_formgrid_(int* gid, int* ndims, const int* dims, int* gids) {
    mp_formgrid(gid, ndims, dims, gids);
}

MPL_EXPORT void mp_formsubcube_(int* gid, int* mask, int* subcube) {
    mp_formsubcube(gid, mask, subcube);
}

MPL_EXPORT void mp_rank2grid_(int* rank, int* ndims, const int* dims, int* coords) {
    mp_rank2grid(rank, ndims, dims, coords);
}

MPL_EXPORT void mp_grid2rank_(const int* coords, int* ndims, const int* dims, int* rank) {
    mp_grid2rank(coords, ndims, dims, rank);
}

MPL_EXPORT void mp_rank2gray_(int* rank, int* gray) {
    mp_rank2gray(rank, gray);
}

MPL_EXPORT void mp_gray2rank_(int* gray, int* rank) {
    mp_gray2rank(gray, rank);
}

}  // extern "C"
