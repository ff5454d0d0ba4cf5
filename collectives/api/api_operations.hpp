// The collective operations under the names they are reported by; shared by the C, by-reference and
// Fortran forms. All check their arguments and answer 0 or -1. See mpproto.h for what they do.
#pragma once

#include <cstddef>

#include "collectives/call/reductions.hpp"
#include "comm/api/caller.hpp"

namespace poe::collectives {

// How a call is to end: blocking, or with the number of a call that is under way.
struct Ending {
    bool blocking = true;
    int* id = nullptr;
};
inline constexpr Ending kBlocking;

int api_bcast(const comm::Caller& name, void* buf, std::size_t len, int root, int gid,
              Ending ending);
int api_reduce(const comm::Caller& name, const void* out, void* in, std::size_t len, int root,
               ReduceFunction func, int gid, Ending ending);
int api_combine(const comm::Caller& name, const void* out, void* in, std::size_t len,
                ReduceFunction func, int gid, Ending ending);
int api_prefix(const comm::Caller& name, const void* out, void* in, std::size_t len,
               ReduceFunction func, int gid, Ending ending);
int api_scatter(const comm::Caller& name, const void* out, void* in, std::size_t blklen, int root,
                int gid, Ending ending);
int api_gather(const comm::Caller& name, const void* out, void* in, std::size_t blklen, int root,
               int gid, Ending ending);
int api_concat(const comm::Caller& name, const void* out, void* in, std::size_t blklen, int gid,
               Ending ending);
int api_index(const comm::Caller& name, const void* out, void* in, std::size_t blklen, int gid,
              Ending ending);
int api_shift(const comm::Caller& name, const void* out, void* in, std::size_t len, int step,
              int flag, int gid, Ending ending);
int api_sync(const comm::Caller& name, int gid, Ending ending);
int api_scatterv(const comm::Caller& name, const void* out, void* in, const int* blklens, int root,
                 int gid, Ending ending);
int api_gatherv(const comm::Caller& name, const void* out, void* in, const int* blklens, int root,
                int gid, Ending ending);
int api_concatv(const comm::Caller& name, const void* out, void* in, const int* blklens, int gid,
                Ending ending);
int api_indexv(const comm::Caller& name, const void* out, const int* outlens, void* in,
               const int* inlens, int gid, Ending ending);
int api_collwait(const comm::Caller& name, int* collid);
int api_colltest(const comm::Caller& name, int collid, int* done);

}  // namespace poe::collectives
