// The output of `mptune -explain send`: for messages of several lengths within a node, the times of
// a streamed and of a fetched transfer, and the method that a send uses.
#pragma once

namespace poe::collectives {

// All tasks of the job call it; tasks 0 and 1 measure, the others return at once. Blocks; task 0
// prints. Returns an exit status.
int explain_sends(int me, int tasks);

}  // namespace poe::collectives
