// What each observed function of MPI does, and what each of its arguments means.
// generate_observe.py makes the shapes from the table of functions. They are valid for every MPI
// library.
#pragma once

#include <cstdint>

namespace poe::observe {

enum class Action : std::uint8_t {
    kOther,  // shown and recorded, without messages
    kInit,
    kFinalize,
    kControl,  // MPI_Pcontrol
    kRename,
    kFreeType,
    kFreeComm,
    kMakeComm,
    kMakeCommOfGroup,  // only the members of a group make the call
    kStartMakingComm,
    kSend,
    kStartSend,
    kMakeSend,  // a persistent request, as the following kMake...
    kReceive,
    kStartReceive,
    kMakeReceive,
    kExchange,
    kStartExchange,
    kProbe,
    kPoll,
    kMatch,
    kReceiveMatched,
    kStartReceiveMatched,
    kStart,
    kComplete,
    kCancel,
    kFreeRequest,
    kCollective,
    kStartCollective,
    kMakeCollective,
    kMakeWindow,  // all members of the communicator meet
    kFreeWindow,  // all tasks of the window meet, also in a fence
    kRenameWindow,
    kFence,
    kPostEpoch,  // the four calls of general active target synchronization (MPI 5.0, section 12.5.2)
    kStartEpoch,
    kCompleteEpoch,
    kWaitEpoch,
    kWindow,    // any other call for a window
    kOpenFile,  // all members of the communicator meet
    kCloseFile,
    kCollectiveFile,       // all tasks of the file make the call
    kStartCollectiveFile,  // begins such an operation and does not wait
    kEndCollectiveFile,    // ends the one that was begun last
    kFile,                 // any other call for a file
};

// What counts as the bytes of a collective call: what this member gives, or its part of what one
// member gives.
enum class Amount : std::uint8_t {
    kSent,            // the member's own block
    kReceived,        // the same, which is given by the root
    kMembers,         // blocks for all members, each with its own count
    kNeighbors,       // the same for the neighbors of the member
    kReducedMembers,  // a vector whose parts all members get, each with its own count
    kReducedBlocks,   // the same with one count
};

// The position of each argument; -1: the function has no such argument.
struct CallShape {
    Action action = Action::kOther;
    std::int8_t comm = -1;
    std::int8_t new_comm = -1;  // address of the communicator that the call makes
    std::int8_t dest = -1;
    std::int8_t source = -1;
    std::int8_t root = -1;
    std::int8_t send_tag = -1;
    std::int8_t receive_tag = -1;
    std::int8_t send_count = -1;
    std::int8_t send_type = -1;
    std::int8_t receive_count = -1;
    std::int8_t receive_type = -1;
    std::int8_t send_counts = -1;  // array of counts, by member, as the following three
    std::int8_t receive_counts = -1;
    std::int8_t send_types = -1;
    std::int8_t receive_types = -1;
    std::int8_t send_buffer = -1;
    std::int8_t receive_buffer = -1;
    std::int8_t request = -1;   // address of a request
    std::int8_t requests = -1;  // array of requests
    std::int8_t requests_count = -1;
    std::int8_t flag = -1;        // address of the answer of a test
    std::int8_t index = -1;       // address of the index of the request that has ended
    std::int8_t done_count = -1;  // address of the number of those
    std::int8_t indices = -1;     // array of their indices
    std::int8_t status = -1;      // address of a status, or array of them
    std::int8_t message = -1;     // address of a matched message
    std::int8_t group = -1;
    std::int8_t window = -1;  // a window, or the address of one in functions that make or free it
    std::int8_t file = -1;    // the same for a file
    Amount amount = Amount::kSent;
    bool wide_counts = false;  // counts are of type MPI_Count
};

}  // namespace poe::observe
