// Makes libpmix serve a port that was open before libpmix started. libpmix listens on a port of its
// own (4.2 does not call the `listener` function that its server module has for this purpose).
// Therefore its listening descriptor is replaced by the inherited one (dup2), and its own port is
// closed.
//
// This file also decides which clients may connect, because libpmix trusts what a client says about
// itself. The program has its own accept(), which libpmix calls, and which accepts only processes
// of the job's user.
#pragma once

#include <cstdint>

namespace poe::pm {

// Replaces libpmix's own listening socket on `library_port` by `listener`. `listener` must be
// listening, TCP, on 127.0.0.1; it is owned and closed by this function. Blocks only while it
// connects to this process itself. Throws Error if libpmix has no such socket.
void adopt_listener(int listener, std::uint16_t library_port);

}  // namespace poe::pm
