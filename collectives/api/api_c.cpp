// The C names of the collective calls.
#include "collectives/api/api_groups.hpp"
#include "collectives/api/api_operations.hpp"
#include "comm/api/api_call.hpp"
#include "comm/api/mpproto.h"

using namespace poe::collectives;

extern "C" {

MPL_EXPORT int mpc_bcast(void* buf, size_t len, int root, int gid) {
    return api_bcast("mpc_bcast", buf, len, root, gid, kBlocking);
}

MPL_EXPORT int mpc_reduce(const void* out, void* in, size_t len, int root, mpl_reduction func,
                          int gid) {
    return api_reduce("mpc_reduce", out, in, len, root, func, gid, kBlocking);
}

MPL_EXPORT int mpc_combine(const void* out, void* in, size_t len, mpl_reduction func, int gid) {
    return api_combine("mpc_combine", out, in, len, func, gid, kBlocking);
}

MPL_EXPORT int mpc_prefix(const void* out, void* in, size_t len, mpl_reduction func, int gid) {
    return api_prefix("mpc_prefix", out, in, len, func, gid, kBlocking);
}

MPL_EXPORT int mpc_scatter(const void* out, void* in, size_t blklen, int root, int gid) {
    return api_scatter("mpc_scatter", out, in, blklen, root, gid, kBlocking);
}

MPL_EXPORT int mpc_gather(const void* out, void* in, size_t blklen, int root, int gid) {
    return api_gather("mpc_gather", out, in, blklen, root, gid, kBlocking);
}

MPL_EXPORT int mpc_concat(const void* out, void* in, size_t blklen, int gid) {
    return api_concat("mpc_concat", out, in, blklen, gid, kBlocking);
}

MPL_EXPORT int mpc_index(const void* out, void* in, size_t blklen, int gid) {
    return api_index("mpc_index", out, in, blklen, gid, kBlocking);
}

MPL_EXPORT int mpc_shift(const void* out, void* in, size_t len, int step, int flag, int gid) {
    return api_shift("mpc_shift", out, in, len, step, flag, gid, kBlocking);
}

[[gnu::hot]] MPL_EXPORT int mpc_sync(int gid) {
    return api_sync("mpc_sync", gid, kBlocking);
}

MPL_EXPORT int mpc_scatterv(const void* out, void* in, const int* blklens, int root, int gid) {
    return api_scatterv("mpc_scatterv", out, in, blklens, root, gid, kBlocking);
}

MPL_EXPORT int mpc_gatherv(const void* out, void* in, const int* blklens, int root, int gid) {
    return api_gatherv("mpc_gatherv", out, in, blklens, root, gid, kBlocking);
}

MPL_EXPORT int mpc_concatv(const void* out, void* in, const int* blklens, int gid) {
    return api_concatv("mpc_concatv", out, in, blklens, gid, kBlocking);
}

MPL_EXPORT int mpc_indexv(const void* out, const int* outlens, void* in, const int* inlens,
                          int gid) {
    return api_indexv("mpc_indexv", out, outlens, in, inlens, gid, kBlocking);
}

MPL_EXPORT int mpc_ibcast(void* buf, size_t len, int root, int gid, int* collid) {
    return api_bcast("mpc_ibcast", buf, len, root, gid, {false, collid});
}

MPL_EXPORT int mpc_ireduce(const void* out, void* in, size_t len, int root, mpl_reduction func,
                           int gid, int* collid) {
    return api_reduce("mpc_ireduce", out, in, len, root, func, gid, {false, collid});
}

MPL_EXPORT int mpc_icombine(const void* out, void* in, size_t len, mpl_reduction func, int gid,
                            int* collid) {
    return api_combine("mpc_icombine", out, in, len, func, gid, {false, collid});
}

MPL_EXPORT int mpc_iprefix(const void* out, void* in, size_t len, mpl_reduction func, int gid,
                           int* collid) {
    return api_prefix("mpc_iprefix", out, in, len, func, gid, {false, collid});
}

MPL_EXPORT int mpc_iscatter(const void* out, void* in, size_t blklen, int root, int gid,
                            int* collid) {
    return api_scatter("mpc_iscatter", out, in, blklen, root, gid, {false, collid});
}

MPL_EXPORT int mpc_igather(const void* out, void* in, size_t blklen, int root, int gid,
                           int* collid) {
    return api_gather("mpc_igather", out, in, blklen, root, gid, {false, collid});
}

MPL_EXPORT int mpc_iconcat(const void* out, void* in, size_t blklen, int gid, int* collid) {
    return api_concat("mpc_iconcat", out, in, blklen, gid, {false, collid});
}

MPL_EXPORT int mpc_iindex(const void* out, void* in, size_t blklen, int gid, int* collid) {
    return api_index("mpc_iindex", out, in, blklen, gid, {false, collid});
}

MPL_EXPORT int mpc_ishift(const void* out, void* in, size_t len, int step, int flag, int gid,
                          int* collid) {
    return api_shift("mpc_ishift", out, in, len, step, flag, gid, {false, collid});
}

MPL_EXPORT int mpc_isync(int gid, int* collid) {
    return api_sync("mpc_isync", gid, {false, collid});
}

MPL_EXPORT int mpc_iscatterv(const void* out, void* in, const int* blklens, int root, int gid,
                             int* collid) {
    return api_scatterv("mpc_iscatterv", out, in, blklens, root, gid, {false, collid});
}

MPL_EXPORT int mpc_igatherv(const void* out, void* in, const int* blklens, int root, int gid,
                            int* collid) {
    return api_gatherv("mpc_igatherv", out, in, blklens, root, gid, {false, collid});
}

MPL_EXPORT int mpc_iconcatv(const void* out, void* in, const int* blklens, int gid, int* collid) {
    return api_concatv("mpc_iconcatv", out, in, blklens, gid, {false, collid});
}

MPL_EXPORT int mpc_iindexv(const void* out, const int* outlens, void* in, const int* inlens,
                           int gid, int* collid) {
    return api_indexv("mpc_iindexv", out, outlens, in, inlens, gid, {false, collid});
}

MPL_EXPORT int mpc_collwait(int* collid) {
    return api_collwait("mpc_collwait", collid);
}

MPL_EXPORT int mpc_colltest(int collid, int* done) {
    return api_colltest("mpc_colltest", collid, done);
}

MPL_EXPORT int mpc_group(int gsize, const int* glist, int label, int* gid) {
    return api_group("mpc_group", gsize, glist, label, gid);
}

MPL_EXPORT int mpc_partition(int parent_gid, int key, int label, int* gid) {
    return api_partition("mpc_partition", parent_gid, key, label, gid);
}

MPL_EXPORT int mpc_freegroup(int gid) {
    return api_freegroup("mpc_freegroup", gid);
}

MPL_EXPORT int mpc_getsize(int* gsize, int gid) {
    return api_getsize("mpc_getsize", gsize, gid);
}

MPL_EXPORT int mpc_getmembers(int* glist, int gid) {
    return api_getmembers("mpc_getmembers", glist, gid);
}

MPL_EXPORT int mpc_getrank(int* rank, int taskid, int gid) {
    return api_getrank("mpc_getrank", rank, taskid, gid);
}

MPL_EXPORT int mpc_gettaskid(int rank, int* taskid, int gid) {
    return api_gettaskid("mpc_gettaskid", rank, taskid, gid);
}

MPL_EXPORT int mpc_getlabel(int* label, int gid) {
    return api_getlabel("mpc_getlabel", label, gid);
}

MPL_EXPORT int mpc_form2dgrid(int gid, int x, int y, int* row, int* column) {
    return api_form2dgrid("mpc_form2dgrid", gid, x, y, row, column);
}

MPL_EXPORT int mpc_formgrid(int gid, int ndims, const int* dims, int* gids) {
    return api_formgrid("mpc_formgrid", gid, ndims, dims, gids);
}

MPL_EXPORT int mpc_formsubcube(int gid, int mask, int* subcube) {
    return api_formsubcube("mpc_formsubcube", gid, mask, subcube);
}

MPL_EXPORT int mpc_rank2grid(int rank, int ndims, const int* dims, int* coords) {
    return api_rank2grid("mpc_rank2grid", rank, ndims, dims, coords);
}

MPL_EXPORT int mpc_grid2rank(const int* coords, int ndims, const int* dims, int* rank) {
    return api_grid2rank("mpc_grid2rank", coords, ndims, dims, rank);
}

MPL_EXPORT int mpc_rank2gray(int rank, int* gray) {
    return api_rank2gray("mpc_rank2gray", rank, gray);
}

MPL_EXPORT int mpc_gray2rank(int gray, int* rank) {
    return api_gray2rank("mpc_gray2rank", gray, rank);
}

}  // extern "C"
