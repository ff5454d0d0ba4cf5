// VT_trc.h: the C and Fortran entry points for a program's own trace records, part of libmpl.
// Separate from the library's other calls, which admit one thread at a time.
#include <cstdlib>
#include <cstring>

#include "tracer/probe/VT_trc.h"
#include "tracer/probe/process_context.hpp"

#define TRACE_EXPORT __attribute__((visibility("default")))

namespace {

using poe::trace::Tracer;

Tracer& tracer() {
    static const bool attached =
        (poe::process_context().tracer.attach_by_environment(
             [](const char* name) -> const char* { return std::getenv(name); }),
         true);
    static_cast<void>(attached);
    return poe::process_context().tracer;
}

constexpr std::size_t kNameMost = 241;

std::string_view name_of(const char* name) {
    return {name, ::strnlen(name, kNameMost)};
}

// gfortran passes the length of a text, which is padded with blanks.
std::string_view name_of(const char* name, std::size_t length) {
    while (length > 0 && name[length - 1] == ' ') --length;
    return {name, length};
}

int answer(bool recorded) {
    return recorded ? 0 : -1;
}

int begin_region(std::string_view name, const void* site) {
    return answer(tracer().on() && !name.empty() && tracer().enter_region(name, site));
}

int end_region(std::string_view name) {
    return answer(tracer().on() && !name.empty() && tracer().leave_region(name));
}

int set_counter(std::string_view name, double value) {
    return answer(tracer().on() && !name.empty() && tracer().count(name, value));
}

}  // namespace

extern "C" {

TRACE_EXPORT int VT_trc_start_c(int flag) {
    const bool sound = (flag >= 0 && flag <= 3) || flag == poe::trace::kEverythingLevel;
    return answer(sound && tracer().on() && tracer().start(flag));
}

TRACE_EXPORT int VT_trc_stop_c(void) {
    return answer(tracer().on() && tracer().stop());
}

TRACE_EXPORT int vt_region_begin(const char* name) {
    return name == nullptr ? -1 : begin_region(name_of(name), __builtin_return_address(0));
}

TRACE_EXPORT int vt_region_end(const char* name) {
    return name == nullptr ? -1 : end_region(name_of(name));
}

TRACE_EXPORT int vt_counter(const char* name, double value) {
    return name == nullptr ? -1 : set_counter(name_of(name), value);
}

TRACE_EXPORT void vt_trc_start_(const int* flag, int* rc) {
    *rc = VT_trc_start_c(*flag);
}

TRACE_EXPORT void vt_trc_stop_(int* rc) {
    *rc = VT_trc_stop_c();
}

TRACE_EXPORT void vt_region_begin_(const char* name, int* rc, std::size_t length) {
    *rc = begin_region(name_of(name, length), __builtin_return_address(0));
}

TRACE_EXPORT void vt_region_end_(const char* name, int* rc, std::size_t length) {
    *rc = end_region(name_of(name, length));
}

TRACE_EXPORT void vt_counter_(const char* name, const double* value, int* rc, std::size_t length) {
    *rc = set_counter(name_of(name, length), *value);
}

}  // extern "C"
