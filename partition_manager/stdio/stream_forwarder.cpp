// See stream_forwarder.hpp.
#include "partition_manager/stdio/stream_forwarder.hpp"

#include <utility>

#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {

StreamForwarder::StreamForwarder(Channel& up, StreamWindow& window, Taken taken)
    : up_(up), window_(window), taken_(std::move(taken)) {}

void StreamForwarder::on_frame(NodeIndex branch, const Frame& frame) {
    if (waiting_.empty() && may_send()) return send(branch, frame);
    waiting_.push_back({branch, frame.kind, frame.flags, frame.task, std::string(frame.payload)});
}

void StreamForwarder::on_message(NodeIndex branch, NodeIndex from, Message message) {
    const std::string payload = encode(message);
    on_frame(branch, {FrameKind::kControl, 0, from, payload});
}

void StreamForwarder::send(NodeIndex branch, const Frame& frame) {
    up_.send_data(frame.kind, frame.flags, frame.task, frame.payload);
    if (frame.kind == FrameKind::kControl) return;
    window_.spend(frame.payload.size());
    taken_(branch, frame.kind, frame.payload.size());
}

void StreamForwarder::resume() {
    while (!waiting_.empty() && may_send()) {
        const Item item = std::move(waiting_.front());
        waiting_.pop_front();
        send(item.branch, {item.kind, item.flags, item.task, item.payload});
    }
}

}  // namespace poe::pm
