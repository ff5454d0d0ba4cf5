// The callbacks of OTF2's reader: which of its events become which of ours. See otf2_importer.hpp.
#include "tracer/exchange/otf2_importer.hpp"

namespace poe::trace {
namespace {

using List = OTF2_AttributeList;

// kNone for an operation that is of no use to tell for whom a member waits.
DataFlow flow_of(OTF2_CollectiveOp operation) {
    switch (operation) {
        case OTF2_COLLECTIVE_OP_BARRIER:
            return DataFlow::kBarrier;
        case OTF2_COLLECTIVE_OP_BCAST:
        case OTF2_COLLECTIVE_OP_SCATTER:
        case OTF2_COLLECTIVE_OP_SCATTERV:
            return DataFlow::kOneToAll;
        case OTF2_COLLECTIVE_OP_GATHER:
        case OTF2_COLLECTIVE_OP_GATHERV:
        case OTF2_COLLECTIVE_OP_REDUCE:
            return DataFlow::kAllToOne;
        case OTF2_COLLECTIVE_OP_ALLGATHER:
        case OTF2_COLLECTIVE_OP_ALLGATHERV:
        case OTF2_COLLECTIVE_OP_ALLTOALL:
        case OTF2_COLLECTIVE_OP_ALLTOALLV:
        case OTF2_COLLECTIVE_OP_ALLTOALLW:
        case OTF2_COLLECTIVE_OP_ALLREDUCE:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
        case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
            return DataFlow::kAllToAll;
        case OTF2_COLLECTIVE_OP_SCAN:
        case OTF2_COLLECTIVE_OP_EXSCAN:
            return DataFlow::kPrefix;
        default:
            return DataFlow::kNone;
    }
}

}  // namespace

void Otf2Importer::set_regions(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List* attributes,
                  OTF2_RegionRef region) {
            self(data).enter(on, at, region, self(data).line_of(region, attributes));
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_RegionRef region) {
            self(data).leave(on, at, region);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextEnterCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*,
                  OTF2_CallingContextRef id, uint32_t) {
            const Otf2Definitions& defined = self(data).defined_;
            const auto context = defined.contexts.find(id);
            if (context == defined.contexts.end()) return OTF2_CALLBACK_SUCCESS;
            const auto line = defined.lines.find(context->second.line);
            self(data).enter(on, at, context->second.region,
                             line == defined.lines.end()
                                 ? self(data).line_of(context->second.region, nullptr)
                                 : line->second);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextLeaveCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_CallingContextRef id) {
            const auto context = self(data).defined_.contexts.find(id);
            if (context != self(data).defined_.contexts.end())
                self(data).leave(on, at, context->second.region);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_MetricRef metric,
                  uint8_t count, const OTF2_Type* types, const OTF2_MetricValue* values) {
            self(data).metric(on, at, metric, count, types, values);
            return OTF2_CALLBACK_SUCCESS;
        });
}

void Otf2Importer::set_messages(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, true);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) {
            self(data).message(on, at, peer, comm, tag, bytes, true, request);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint64_t request) {
            Otf2Row* row = self(data).row_of(on, "MpiIsendComplete");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            const auto sent = row->sends.find(request);
            if (sent == row->sends.end()) return OTF2_CALLBACK_SUCCESS;
            row->out.send_ended(self(data).time_of(at), sent->second.to, sent->second.type);
            row->sends.erase(sent);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint32_t peer,
                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t) {
            self(data).message(on, at, peer, comm, tag, bytes, false);
            return OTF2_CALLBACK_SUCCESS;
        });
}

// Only the end event has the communicator, so a record is reserved at the begin event and filled at
// the end.
void Otf2Importer::set_collectives(OTF2_GlobalEvtReaderCallbacks* calls) {
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*) {
            Otf2Row* row = self(data).row_of(on, "MpiCollectiveBegin");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            row->begun.push_back(row->out.records());
            row->out.put(self(data).time_of(at), {});
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp, void* data, List*, OTF2_CollectiveOp,
                  OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received) {
            Otf2Row* row = self(data).row_of(on, "MpiCollectiveEnd");
            if (row == nullptr || row->begun.empty()) return OTF2_CALLBACK_SUCCESS;
            row->out.replace(row->begun.back(),
                             self(data).collective(*row, comm, root, std::max(sent, received)));
            row->begun.pop_back();
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
        calls, [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, uint64_t request) {
            Otf2Row* row = self(data).row_of(on, "NonBlockingCollectiveRequest");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            row->asked[request] = row->out.records();
            row->out.put(self(data).time_of(at), {});
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
        calls,
        [](OTF2_LocationRef on, OTF2_TimeStamp at, void* data, List*, OTF2_CollectiveOp operation,
           OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, uint64_t request) {
            Otf2Row* row = self(data).row_of(on, "NonBlockingCollectiveComplete");
            if (row == nullptr) return OTF2_CALLBACK_SUCCESS;
            const auto asked = row->asked.find(request);
            if (asked == row->asked.end()) return OTF2_CALLBACK_SUCCESS;
            Record record = self(data).collective(*row, comm, root, std::max(sent, received));
            record.detail = collective_detail(Phase::kStarts, flow_of(operation));
            row->out.replace(asked->second, record);
            record.detail = collective_detail(Phase::kEnds);
            row->out.put(self(data).time_of(at), record);
            row->asked.erase(asked);
            return OTF2_CALLBACK_SUCCESS;
        });
}

}  // namespace poe::trace
