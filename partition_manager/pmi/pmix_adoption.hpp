// How libpmix comes to serve a port that was open before it started. It listens on a port of its
// own (4.2 does not call the `listener` function that its server module has for this); so, once it
// does, its listening descriptor is replaced by the inherited one (dup2), and its own port is gone.
// Who may connect is decided here, too, because libpmix believes what a client says about itself:
// this program has its own accept(), which libpmix calls and which lets in only processes of the
// job's user.
#pragma once

#include <cstdint>

namespace poe::pm {

// Puts `listener` (listening, TCP, on 127.0.0.1; taken over and closed) in the place of libpmix's
// own listening socket on `library_port`. Waits for nothing but a connect to ourselves. Throws
// Error when libpmix has no such socket.
void adopt_listener(int listener, std::uint16_t library_port);

}  // namespace poe::pm
