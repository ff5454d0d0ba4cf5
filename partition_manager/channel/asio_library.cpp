// The code of Asio, compiled once. In its header-only form every file that includes one of its
// headers would compile its own copy.
#include <netdb.h>

// Addresses are numbers here. A program that is linked statically cannot use the name service, and
// the linker would warn of every function that does.
static int refuse_name(const char*, const char*, const addrinfo*, addrinfo**) {
    return EAI_FAIL;
}
#define getaddrinfo refuse_name

#include <asio/impl/src.hpp>
