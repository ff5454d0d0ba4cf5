// The collective operations, with the name under which errors are reported; shared by the C,
// by-reference and Fortran forms. All check their arguments and return 0 or -1. mpproto.h describes
// them.
#pragma once

#include <cstddef>

#include "collectives/call/reductions.hpp"
#include "comm/api/caller.hpp"

namespace poe::collectives {

// How a call ends: blocking, or by returning the id of a call under way.
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
