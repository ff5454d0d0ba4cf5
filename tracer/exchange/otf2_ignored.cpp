// Implementation of otf2_ignored.hpp.
#include "tracer/exchange/otf2_ignored.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/suggest.hpp"

namespace poe::trace {
namespace {

enum Kind : std::size_t {
    kBufferFlush,
    kMeasurementOnOff,
    kRequestTest,
    kRequestCancelled,
    kOmpFork,
    kOmpJoin,
    kOmpAcquireLock,
    kOmpReleaseLock,
    kOmpTaskCreate,
    kOmpTaskSwitch,
    kOmpTaskComplete,
    kParameterString,
    kParameterInt,
    kParameterUnsignedInt,
    kRmaWinCreate,
    kRmaWinDestroy,
    kRmaCollectiveBegin,
    kRmaCollectiveEnd,
    kRmaGroupSync,
    kRmaRequestLock,
    kRmaAcquireLock,
    kRmaTryLock,
    kRmaReleaseLock,
    kRmaSync,
    kRmaWaitChange,
    kRmaPut,
    kRmaGet,
    kRmaAtomic,
    kRmaOpCompleteBlocking,
    kRmaOpCompleteNonBlocking,
    kRmaOpTest,
    kRmaOpCompleteRemote,
    kThreadFork,
    kThreadJoin,
    kThreadTeamBegin,
    kThreadTeamEnd,
    kThreadAcquireLock,
    kThreadReleaseLock,
    kThreadTaskCreate,
    kThreadTaskSwitch,
    kThreadTaskComplete,
    kThreadCreate,
    kThreadBegin,
    kThreadWait,
    kThreadEnd,
    kSample,
    kIoCreateHandle,
    kIoDestroyHandle,
    kIoDuplicateHandle,
    kIoSeek,
    kIoChangeStatusFlags,
    kIoDeleteFile,
    kIoOperationBegin,
    kIoOperationTest,
    kIoOperationIssued,
    kIoOperationComplete,
    kIoOperationCancelled,
    kIoAcquireLock,
    kIoReleaseLock,
    kIoTryLock,
    kUnknown,
    kKinds
};

constexpr std::array<const char*, kKinds> kNames{"BufferFlush",
                                                 "MeasurementOnOff",
                                                 "MpiRequestTest",
                                                 "MpiRequestCancelled",
                                                 "OmpFork",
                                                 "OmpJoin",
                                                 "OmpAcquireLock",
                                                 "OmpReleaseLock",
                                                 "OmpTaskCreate",
                                                 "OmpTaskSwitch",
                                                 "OmpTaskComplete",
                                                 "ParameterString",
                                                 "ParameterInt",
                                                 "ParameterUnsignedInt",
                                                 "RmaWinCreate",
                                                 "RmaWinDestroy",
                                                 "RmaCollectiveBegin",
                                                 "RmaCollectiveEnd",
                                                 "RmaGroupSync",
                                                 "RmaRequestLock",
                                                 "RmaAcquireLock",
                                                 "RmaTryLock",
                                                 "RmaReleaseLock",
                                                 "RmaSync",
                                                 "RmaWaitChange",
                                                 "RmaPut",
                                                 "RmaGet",
                                                 "RmaAtomic",
                                                 "RmaOpCompleteBlocking",
                                                 "RmaOpCompleteNonBlocking",
                                                 "RmaOpTest",
                                                 "RmaOpCompleteRemote",
                                                 "ThreadFork",
                                                 "ThreadJoin",
                                                 "ThreadTeamBegin",
                                                 "ThreadTeamEnd",
                                                 "ThreadAcquireLock",
                                                 "ThreadReleaseLock",
                                                 "ThreadTaskCreate",
                                                 "ThreadTaskSwitch",
                                                 "ThreadTaskComplete",
                                                 "ThreadCreate",
                                                 "ThreadBegin",
                                                 "ThreadWait",
                                                 "ThreadEnd",
                                                 "CallingContextSample",
                                                 "IoCreateHandle",
                                                 "IoDestroyHandle",
                                                 "IoDuplicateHandle",
                                                 "IoSeek",
                                                 "IoChangeStatusFlags",
                                                 "IoDeleteFile",
                                                 "IoOperationBegin",
                                                 "IoOperationTest",
                                                 "IoOperationIssued",
                                                 "IoOperationComplete",
                                                 "IoOperationCancelled",
                                                 "IoAcquireLock",
                                                 "IoReleaseLock",
                                                 "IoTryLock",
                                                 "unknown"};

using EventCallbacks = OTF2_GlobalEvtReaderCallbacks;

template <std::size_t kKind, typename... Rest>
OTF2_CallbackCode ignore(OTF2_LocationRef, OTF2_TimeStamp, void* data, OTF2_AttributeList*,
                         Rest...) {
    ++static_cast<Otf2Ignored*>(data)->events[kNames[kKind]];
    return OTF2_CALLBACK_SUCCESS;
}

// `set` is one of the library's functions that register a callback.
template <std::size_t kKind, typename... Rest>
void count(EventCallbacks* calls,
           OTF2_ErrorCode (*set)(EventCallbacks*,
                                 OTF2_CallbackCode (*)(OTF2_LocationRef, OTF2_TimeStamp, void*,
                                                       OTF2_AttributeList*, Rest...))) {
    set(calls, &ignore<kKind, Rest...>);
}

}  // namespace

std::string Otf2Ignored::words() const {
    constexpr std::size_t kShown = 6;
    std::vector<std::pair<std::uint64_t, std::string>> kinds;
    std::uint64_t all = 0;
    for (const auto& [name, number] : events) {
        kinds.emplace_back(number, name);
        all += number;
    }
    if (kinds.empty()) return "";
    std::stable_sort(kinds.begin(), kinds.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text =
        fmt::format("{} not imported:", count_words(static_cast<std::size_t>(all), "event"));
    for (std::size_t i = 0; i < std::min(kinds.size(), kShown); ++i)
        text += fmt::format("{} {} {}", i == 0 ? "" : ",", kinds[i].first, kinds[i].second);
    if (kinds.size() > kShown) text += fmt::format(" and {} more kinds", kinds.size() - kShown);
    return text;
}

void count_ignored(EventCallbacks* calls) {
#define COUNT(KIND, EVENT) count<KIND>(calls, OTF2_GlobalEvtReaderCallbacks_Set##EVENT##Callback)
    COUNT(kBufferFlush, BufferFlush);
    COUNT(kMeasurementOnOff, MeasurementOnOff);
    COUNT(kRequestTest, MpiRequestTest);
    COUNT(kRequestCancelled, MpiRequestCancelled);
    COUNT(kOmpFork, OmpFork);
    COUNT(kOmpJoin, OmpJoin);
    COUNT(kOmpAcquireLock, OmpAcquireLock);
    COUNT(kOmpReleaseLock, OmpReleaseLock);
    COUNT(kOmpTaskCreate, OmpTaskCreate);
    COUNT(kOmpTaskSwitch, OmpTaskSwitch);
    COUNT(kOmpTaskComplete, OmpTaskComplete);
    COUNT(kParameterString, ParameterString);
    COUNT(kParameterInt, ParameterInt);
    COUNT(kParameterUnsignedInt, ParameterUnsignedInt);
    COUNT(kRmaWinCreate, RmaWinCreate);
    COUNT(kRmaWinDestroy, RmaWinDestroy);
    COUNT(kRmaCollectiveBegin, RmaCollectiveBegin);
    COUNT(kRmaCollectiveEnd, RmaCollectiveEnd);
    COUNT(kRmaGroupSync, RmaGroupSync);
    COUNT(kRmaRequestLock, RmaRequestLock);
    COUNT(kRmaAcquireLock, RmaAcquireLock);
    COUNT(kRmaTryLock, RmaTryLock);
    COUNT(kRmaReleaseLock, RmaReleaseLock);
    COUNT(kRmaSync, RmaSync);
    COUNT(kRmaWaitChange, RmaWaitChange);
    COUNT(kRmaPut, RmaPut);
    COUNT(kRmaGet, RmaGet);
    COUNT(kRmaAtomic, RmaAtomic);
    COUNT(kRmaOpCompleteBlocking, RmaOpCompleteBlocking);
    COUNT(kRmaOpCompleteNonBlocking, RmaOpCompleteNonBlocking);
    COUNT(kRmaOpTest, RmaOpTest);
    COUNT(kRmaOpCompleteRemote, RmaOpCompleteRemote);
    COUNT(kThreadFork, ThreadFork);
    COUNT(kThreadJoin, ThreadJoin);
    COUNT(kThreadTeamBegin, ThreadTeamBegin);
    COUNT(kThreadTeamEnd, ThreadTeamEnd);
    COUNT(kThreadAcquireLock, ThreadAcquireLock);
    COUNT(kThreadReleaseLock, ThreadReleaseLock);
    COUNT(kThreadTaskCreate, ThreadTaskCreate);
    COUNT(kThreadTaskSwitch, ThreadTaskSwitch);
    COUNT(kThreadTaskComplete, ThreadTaskComplete);
    COUNT(kThreadCreate, ThreadCreate);
    COUNT(kThreadBegin, ThreadBegin);
    COUNT(kThreadWait, ThreadWait);
    COUNT(kThreadEnd, ThreadEnd);
    COUNT(kSample, CallingContextSample);
    COUNT(kIoCreateHandle, IoCreateHandle);
    COUNT(kIoDestroyHandle, IoDestroyHandle);
    COUNT(kIoDuplicateHandle, IoDuplicateHandle);
    COUNT(kIoSeek, IoSeek);
    COUNT(kIoChangeStatusFlags, IoChangeStatusFlags);
    COUNT(kIoDeleteFile, IoDeleteFile);
    COUNT(kIoOperationBegin, IoOperationBegin);
    COUNT(kIoOperationTest, IoOperationTest);
    COUNT(kIoOperationIssued, IoOperationIssued);
    COUNT(kIoOperationComplete, IoOperationComplete);
    COUNT(kIoOperationCancelled, IoOperationCancelled);
    COUNT(kIoAcquireLock, IoAcquireLock);
    COUNT(kIoReleaseLock, IoReleaseLock);
    COUNT(kIoTryLock, IoTryLock);
    COUNT(kUnknown, Unknown);
#undef COUNT
}

}  // namespace poe::trace
