// The numbers of the messages of MPL and CCL. Apart, because the engine reports some of them
// itself.
#pragma once

namespace poe::comm {

// The numbers NNN of the messages 0032-NNN.
enum class MplError : int {
    kNotReady = 100,
    kBusy = 101,
    kNullPointer = 102,
    kLength = 103,
    kDestination = 104,
    kSource = 105,
    kType = 106,
    kQuery = 107,
    kGroup = 108,
    kNoBuffer = 109,
    kNobodySends = 110,
    kPeerBroken = 111,
    kCountTooSmall = 113,
    kFatal = 114,
    kMessageId = 115,
    kTruncated = 116,
    kDisagreement = 117,
    kForeignJob = 118,  // reported by runtime.cpp and foreign_launch.cpp, outside calls
    kRoot = 119,
    kCollectiveId = 120,
    kMember = 121,
    kTuningFile = 122,     // not an error: the call continues
    kNoGroupMemory = 123,  // likewise
    kPlanFile = 124,       // likewise
    kPlanLeft = 125,       // likewise
};

}  // namespace poe::comm
