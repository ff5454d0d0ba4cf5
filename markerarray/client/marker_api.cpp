// mp_marker.h: the C and Fortran entry points of MarkerClient, part of libmpl. Separate from the
// library's other calls, which admit one thread at a time.
#include <cstdlib>
#include <cstring>

#include "markerarray/client/client.hpp"
#include "markerarray/client/mp_marker.h"
#include "tracer/probe/process_context.hpp"

#define MARKER_EXPORT __attribute__((visibility("default")))

namespace {

using poe::markers::the_marker_client;

const char* variable_of(const char* name) {
    return std::getenv(name);
}

// Limits the search for the end of a long text, because only its beginning is kept.
std::optional<std::string_view> beginning_of(const char* text) {
    if (text == nullptr) return std::nullopt;
    return std::string_view(text, ::strnlen(text, poe::kMarkerBytes + 1));
}

// In a program that makes no MPL call, the marker calls attach the tracer.
poe::trace::Tracer& the_tracer() {
    static const bool attached =
        (poe::process_context().tracer.attach_by_environment(variable_of), true);
    static_cast<void>(attached);
    return poe::process_context().tracer;
}

void mark(int light, int color, std::optional<std::string_view> text) {
    the_marker_client().mark(light, color, text);
    if (the_tracer().on()) [[unlikely]]
        the_tracer().marker(light, color,
                            poe::markers::kept_text(text.value_or(std::string_view())));
}

}  // namespace

extern "C" {

MARKER_EXPORT void mpc_marker(int light, int color, const char* string) {
    mark(light, color, beginning_of(string));
}

MARKER_EXPORT int mpc_nlights(void) {
    return the_marker_client().lights();
}

MARKER_EXPORT void mpc_progress(long long done, long long total) {
    the_marker_client().progress(done, total);
    if (the_tracer().on()) [[unlikely]]
        the_tracer().progress(done, total);
}

MARKER_EXPORT void mp_marker(const int* light, const int* color, const char* string) {
    if (light != nullptr && color != nullptr) mpc_marker(*light, *color, string);
}

MARKER_EXPORT void mp_nlights(int* lights) {
    if (lights != nullptr) *lights = mpc_nlights();
}

MARKER_EXPORT void mp_progress(const int* done, const int* total) {
    if (done != nullptr && total != nullptr) mpc_progress(*done, *total);
}

// gfortran passes the length of the text, which is padded with blanks.
MARKER_EXPORT void mp_marker_(const int* light, const int* color, const char* string,
                              std::size_t length) {
    while (length > 0 && string[length - 1] == ' ') --length;
    mark(*light, *color, std::string_view(string, length));
}

MARKER_EXPORT void mp_nlights_(int* lights) {
    mp_nlights(lights);
}

MARKER_EXPORT void mp_progress_(const int* done, const int* total) {
    mp_progress(done, total);
}

}  // extern "C"
