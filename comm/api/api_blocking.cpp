// MPL's blocking sends and receives, and packing; see mpproto.h.
#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"

namespace poe::comm {

namespace {

int send(ApiCall& call, const BufferView& view, Call doing, int dest, int type) {
    if (const int refused = refuse_destination(call, dest, type)) return refused;
    call.doing(doing, dest, type, view.size());
    const Outcome outcome = call.runtime().messages().send(view, dest, type);
    return outcome == Outcome::kDone ? 0 : call.refuse(outcome, dest);
}

int receive(ApiCall& call, const BufferView& view, Call doing, int* source, int* type,
            const UserCount& nbytes) {
    if (const int refused = refuse_wanted(call, source, type)) return refused;
    call.doing(doing, *source, *type, view.size());
    const ReceiveRequest& received =
        call.runtime().messages().receive(view, {kMplContext, *source, *type});
    return tell_received(call, received, source, type, nbytes);
}

}  // namespace

int api_bsend(const Caller& name, const void* out, std::size_t len, int dest, int type) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_buffer(call, out, len)) return refused;
        return send(call, {const_cast<void*>(out), len}, Call::kBsend, dest, type);
    });
}

int api_brecv(const Caller& name, void* in, std::size_t len, int* source, int* type,
              UserCount nbytes) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_buffer(call, in, len)) return refused;
        return receive(call, {in, len}, Call::kBrecv, source, type, nbytes);
    });
}

int api_bvsend(const Caller& name, const void* out, std::size_t blklen, std::size_t offset,
               std::size_t blknum, int dest, int type) {
    const UserBuffer blocks{out, blklen, offset, blknum};
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_blocks(call, blocks)) return refused;
        return send(call, view_of(blocks), Call::kBvsend, dest, type);
    });
}

int api_bvrecv(const Caller& name, void* in, std::size_t blklen, std::size_t offset,
               std::size_t blknum, int* source, int* type, UserCount nbytes) {
    const UserBuffer blocks{in, blklen, offset, blknum};
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_blocks(call, blocks)) return refused;
        return receive(call, view_of(blocks), Call::kBvrecv, source, type, nbytes);
    });
}

int api_bsendrecv(const Caller& name, const void* out, std::size_t outlen, int dest, int type,
                  void* in, std::size_t inlen, int* source, UserCount nbytes) {
    const BufferView sent{const_cast<void*>(out), outlen};
    const BufferView room{in, inlen};
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_buffer(call, out, outlen)) return refused;
        if (const int refused = refuse_buffer(call, in, inlen)) return refused;
        if (const int refused = refuse_destination(call, dest, type)) return refused;
        if (const int refused = refuse_wanted(call, source, &type)) return refused;
        call.note(Call::kBsendrecv, *source, type, 0);
        MessageLayer& messages = call.runtime().messages();
        ReceiveRequest receive;
        receive.view = room;
        receive.wanted = {kMplContext, *source, type};
        SendRequest send(sent, dest, type);
        messages.start(receive);
        messages.start(send);
        call.doing(Call::kBsendrecv, *source, type, receive.view.size());
        messages.wait(receive);
        // Waits for both, because the requests are local variables.
        if (messages.wait(send) != Outcome::kDone) return call.refuse(send.outcome, dest);
        return tell_received(call, receive, source, nullptr, nbytes);
    });
}

namespace {

// Checks the arguments of a copy between blocks and contiguous memory, and calls copy(blocks).
template <typename Copy>
int copy_blocks(const Caller& name, const void* in, void* out, const UserBuffer& blocks,
                Copy&& copy) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    if (const int refused = refuse_blocks(call, blocks)) return refused;
    const BufferView view = view_of(blocks);
    if (view.size() == 0) return 0;
    if (in == nullptr || out == nullptr)
        return refuse_null(call, in == nullptr ? "in" : "out", "data");
    copy(view);
    return 0;
}

}  // namespace

int api_pack(const Caller& name, const void* in, void* out, std::size_t blklen, std::size_t offset,
             std::size_t blknum) {
    return copy_blocks(name, in, out, {in, blklen, offset, blknum}, [&](const BufferView& view) {
        view.copy_out(0, static_cast<std::byte*>(out), view.size());
    });
}

int api_unpack(const Caller& name, const void* in, void* out, std::size_t blklen,
               std::size_t offset, std::size_t blknum) {
    return copy_blocks(name, in, out, {out, blklen, offset, blknum}, [&](const BufferView& view) {
        view.copy_in(0, static_cast<const std::byte*>(in), view.size());
    });
}

}  // namespace poe::comm
