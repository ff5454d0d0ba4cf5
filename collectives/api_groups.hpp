// Task groups under the names they are reported by; shared by the C, by-reference and Fortran
// forms. All check their arguments and answer 0 or -1. See mpproto.h for what they do.
#pragma once

namespace poe::collectives {

int api_group(const char* name, int gsize, const int* glist, int label, int* gid);
int api_partition(const char* name, int parent, int key, int label, int* gid);
int api_freegroup(const char* name, int gid);
int api_getsize(const char* name, int* gsize, int gid);
int api_getmembers(const char* name, int* glist, int gid);
int api_getrank(const char* name, int* rank, int taskid, int gid);
int api_gettaskid(const char* name, int rank, int* taskid, int gid);
int api_getlabel(const char* name, int* label, int gid);

// Grids and hypercubes (api_grids.cpp).
int api_form2dgrid(const char* name, int gid, int x, int y, int* row, int* column);
int api_formgrid(const char* name, int gid, int ndims, const int* dims, int* gids);
int api_formsubcube(const char* name, int gid, int mask, int* subcube);
int api_rank2grid(const char* name, int rank, int ndims, const int* dims, int* coords);
int api_grid2rank(const char* name, const int* coords, int ndims, const int* dims, int* rank);
int api_rank2gray(const char* name, int rank, int* gray);
int api_gray2rank(const char* name, int gray, int* rank);

}  // namespace poe::collectives
