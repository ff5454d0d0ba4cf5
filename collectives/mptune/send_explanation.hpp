// What mptune -explain send prints: for messages of several lengths within a node, what they take
// streamed and fetched, and which of both a send takes.
#pragma once

namespace poe::collectives {

// All tasks of the job call it; tasks 0 and 1 measure. Blocking; task 0 prints. An exit status.
int explain_sends(int me, int tasks);

}  // namespace poe::collectives
