// The calls on task groups, with the name under which errors are reported; shared by the C,
// by-reference and Fortran forms. All check their arguments and return 0 or -1. mpproto.h describes
// them.
#pragma once

#include "comm/api/caller.hpp"

namespace poe::collectives {

int api_group(const comm::Caller& name, int gsize, const int* glist, int label, int* gid);
int api_partition(const comm::Caller& name, int parent, int key, int label, int* gid);
int api_freegroup(const comm::Caller& name, int gid);
int api_getsize(const comm::Caller& name, int* gsize, int gid);
int api_getmembers(const comm::Caller& name, int* glist, int gid);
int api_getrank(const comm::Caller& name, int* rank, int taskid, int gid);
int api_gettaskid(const comm::Caller& name, int rank, int* taskid, int gid);
int api_getlabel(const comm::Caller& name, int* label, int gid);

// Grids and hypercubes (api_grids.cpp).
int api_form2dgrid(const comm::Caller& name, int gid, int x, int y, int* row, int* column);
int api_formgrid(const comm::Caller& name, int gid, int ndims, const int* dims, int* gids);
int api_formsubcube(const comm::Caller& name, int gid, int mask, int* subcube);
int api_rank2grid(const comm::Caller& name, int rank, int ndims, const int* dims, int* coords);
int api_grid2rank(const comm::Caller& name, const int* coords, int ndims, const int* dims,
                  int* rank);
int api_rank2gray(const comm::Caller& name, int rank, int* gray);
int api_gray2rank(const comm::Caller& name, int gray, int* rank);

}  // namespace poe::collectives
