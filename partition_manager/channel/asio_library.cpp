// Compiles the code of Asio once. In its header-only form every file that includes one of its
// headers would compile its own copy.
#include <netdb.h>

// Replaces getaddrinfo within Asio. POE does not use Asio's resolver, and the linker warns if a
// static program contains a call of getaddrinfo.
static int refuse_name(const char*, const char*, const addrinfo*, addrinfo**) {
    return EAI_FAIL;
}
#define getaddrinfo refuse_name

#include <asio/impl/src.hpp>
