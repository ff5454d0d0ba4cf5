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

int api_bvsend(const Caller& name, const UserBuffer& out, int dest, int type) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_blocks(call, out)) return refused;
        return send(call, view_of(out), Call::kBvsend, dest, type);
    });
}

int api_bvrecv(const Caller& name, const UserBuffer& in, int* source, int* type, UserCount nbytes) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_blocks(call, in)) return refused;
        return receive(call, view_of(in), Call::kBvrecv, source, type, nbytes);
    });
}

int api_bsendrecv(const Caller& name, const UserBuffer& out, int dest, int type,
                  const UserBuffer& in, int* source, UserCount nbytes) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_blocks(call, out)) return refused;
        if (const int refused = refuse_blocks(call, in)) return refused;
        if (const int refused = refuse_destination(call, dest, type)) return refused;
        if (const int refused = refuse_wanted(call, source, &type)) return refused;
        call.note(Call::kBsendrecv, *source, type, 0);
        MessageLayer& messages = call.runtime().messages();
        ReceiveRequest receive;
        receive.view = view_of(in);
        receive.wanted = {kMplContext, *source, type};
        SendRequest send(view_of(out), dest, type);
        messages.start(receive);
        messages.start(send);
        call.doing(Call::kBsendrecv, *source, type, receive.view.size());
        messages.wait(receive);
        // Waits for both, because the requests are local variables.
        if (messages.wait(send) != Outcome::kDone) return call.refuse(send.outcome, dest);
        return tell_received(call, receive, source, nullptr, nbytes);
    });
}

int api_pack(const Caller& name, const void* in, void* out, const UserBuffer& blocks, bool unpack) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    if (const int refused = refuse_blocks(call, blocks)) return refused;
    const BufferView view = view_of(blocks);
    if (view.size() == 0) return 0;
    if (in == nullptr || out == nullptr)
        return refuse_null(call, in == nullptr ? "in" : "out", "data");
    if (unpack) {
        view.copy_in(0, static_cast<const std::byte*>(in), view.size());
    } else {
        view.copy_out(0, static_cast<std::byte*>(out), view.size());
    }
    return 0;
}

}  // namespace poe::comm

using namespace poe::comm;

extern "C" {

MPL_EXPORT int mpc_bsend(const void* out, size_t len, int dest, int type) {
    return api_bsend("mpc_bsend", out, len, dest, type);
}

MPL_EXPORT int mpc_bvsend(const void* out, size_t blklen, size_t offset, size_t blknum, int dest,
                          int type) {
    return api_bvsend("mpc_bvsend", {out, blklen, offset, blknum}, dest, type);
}

MPL_EXPORT int mpc_pack(const void* in, void* out, size_t blklen, size_t offset, size_t blknum) {
    return api_pack("mpc_pack", in, out, {in, blklen, offset, blknum}, false);
}

MPL_EXPORT int mpc_unpack(const void* in, void* out, size_t blklen, size_t offset, size_t blknum) {
    return api_pack("mpc_unpack", in, out, {out, blklen, offset, blknum}, true);
}

// One set of functions per type that nbytes may point to. A type cannot be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define MPL_RECEIVES(SUFFIX, COUNT)                                                            \
    MPL_EXPORT int mpc_brecv##SUFFIX(void* in, size_t len, int* source, int* type,             \
                                     COUNT* nbytes) {                                          \
        return api_brecv("mpc_brecv", in, len, source, type, nbytes);                          \
    }                                                                                          \
    MPL_EXPORT int mpc_bvrecv##SUFFIX(void* in, size_t blklen, size_t offset, size_t blknum,   \
                                      int* source, int* type, COUNT* nbytes) {                 \
        return api_bvrecv("mpc_bvrecv", {in, blklen, offset, blknum}, source, type, nbytes);   \
    }                                                                                          \
    MPL_EXPORT int mpc_bsendrecv##SUFFIX(const void* out, size_t outlen, int dest, int type,   \
                                         void* in, size_t inlen, int* source, COUNT* nbytes) { \
        return api_bsendrecv("mpc_bsendrecv", {out, outlen, outlen}, dest, type,               \
                             {in, inlen, inlen}, source, nbytes);                              \
    }
// NOLINTEND(bugprone-macro-parentheses)
MPL_RECEIVES(, int)
MPL_RECEIVES(_u, unsigned)
MPL_RECEIVES(_l, long)
MPL_RECEIVES(_ul, unsigned long)
MPL_RECEIVES(_ll, long long)
MPL_RECEIVES(_ull, unsigned long long)

}  // extern "C"
