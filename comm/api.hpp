// The entry points under the names they are reported by; shared by the C, by-reference and Fortran
// forms.
#pragma once

#include <cstddef>

namespace poe::comm {

int api_environ(const char* name, int* numtask, int* taskid);
int api_task_query(const char* name, int* nbuf, int nelem, int qtype);
[[noreturn]] int api_stopall(int errcode);
int api_bsend(const char* name, const void* out, std::size_t len, int dest, int type);
template <typename Count>
int api_brecv(const char* name, void* in, std::size_t len, int* source, int* type, Count* nbytes);

}  // namespace poe::comm
