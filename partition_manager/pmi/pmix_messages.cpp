// The fields of the messages between pmd and pmd-pmix; channel/cbor_fields.hpp encodes them.
#include "partition_manager/pmi/pmix_messages.hpp"

#include "base/error.hpp"
#include "partition_manager/channel/cbor_fields.hpp"
#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {

template <class F>
void fields(F& f, PmixJob& m) {
    f(m.job_id)(m.nspace)(m.nodes)(m.this_node)(m.node_of_task)(m.appnum_of_task)(m.directory);
    f(m.uid)(m.gid)(m.others)(m.parent)(m.parent_task)(m.first);
}
template <class F>
void fields(F& f, PmixStart& m) {
    f(m.job)(m.promised)(m.promise_given)(m.shared_store);
}
template <class F>
void fields(F& f, PmixReady& m) {
    f(m.environment);
}
template <class F>
void fields(F& f, PmixConnected& m) {
    f(m.task);
}
template <class F>
void fields(F& f, PmixFinalized& m) {
    f(m.task);
}
template <class F>
void fields(F& f, PmixAbort& m) {
    f(m.task)(m.status)(m.text);
}
template <class F>
void fields(F& f, PmixAttention& m) {
    f(m.text);
}
template <class F>
void fields(F& f, PmixFailed& m) {
    f(m.text);
}
template <class F>
void fields(F& f, PmixFence& m) {
    f(m.key)(m.nodes)(m.data)(m.jobs);
}
template <class F>
void fields(F& f, PmixFenced& m) {
    f(m.key)(m.data);
}
template <class F>
void fields(F& f, PmixPassed& m) {
    f(m.message);
}
template <class F>
void fields(F& f, PmixPeerLost& m) {
    f(m.task);
}

namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

std::string pmix_encode(const PmixMessage& message) {
    const std::string body = cbor_of(message);
    std::string length(kLengthBytes, '\0');
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        length[i] = static_cast<char>((body.size() >> (8 * i)) & 0xff);
    return length + body;
}

std::optional<PmixMessage> PmixDecoder::next() {
    if (buffer_.size() - taken_ < kLengthBytes) {
        buffer_.erase(0, std::exchange(taken_, 0));
        return std::nullopt;
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        size |= static_cast<std::size_t>(static_cast<unsigned char>(buffer_[taken_ + i]))
                << (8 * i);
    if (size > kMaxMessage) throw Error("pmd and pmd-pmix do not understand each other");
    if (buffer_.size() - taken_ - kLengthBytes < size) {
        buffer_.erase(0, std::exchange(taken_, 0));
        return std::nullopt;
    }
    const char* begin = buffer_.data() + taken_ + kLengthBytes;
    taken_ += kLengthBytes + size;
    try {
        return from_cbor<PmixMessage>({begin, size});
    } catch (const std::exception& error) {
        throw Error(std::string("pmd and pmd-pmix do not understand each other: ") + error.what());
    }
}

}  // namespace poe::pm
