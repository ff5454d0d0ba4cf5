// mpl_random's mixed batches: blocking and non-blocking, contiguous and strided sends and receives,
// receives posted before the sends and after, found by probe first, waited for by id in any order,
// by DONTCARE, by ALLMSG, or after mpc_status.
//
// All receives of a task in one batch select in the same way, so that they can be checked in the
// order of posting whatever the order in which they end: of those that select alike, the one posted
// first must have got the message sent first.
#include <deque>

#include "tests/multiproc/random_traffic.hpp"

namespace traffic {
namespace {

constexpr unsigned char kMark = 0xa5;

// Memory for a message: blocks with gaps, or one block. What is not the message's is kMark.
struct Memory {
    std::size_t block = 0;
    std::size_t offset = 0;
    std::size_t count = 1;
    std::vector<unsigned char> bytes;

    Memory(std::size_t size, bool strided, Random& own) : block(size), offset(size) {
        if (strided) {
            count = 1 + own.below(9);
            while (size % count != 0) --count;
            block = size / count;
            offset = block + own.below(20);
        }
        bytes.assign(offset * count + 1, kMark);
    }

    void put(const std::vector<unsigned char>& message) {
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(i * block), block,
                        bytes.begin() + static_cast<std::ptrdiff_t>(i * offset));
    }

    // Whether it holds the first `size` bytes of the message and nothing else.
    bool holds(const std::vector<unsigned char>& message, std::size_t size) const {
        std::vector<unsigned char> expected(bytes.size(), kMark);
        for (std::size_t at = 0; at < size; ++at)
            expected[at / block * offset + at % block] = message[at];
        return expected == bytes;
    }
};

// One call under way, or over.
struct Operation {
    explicit Operation(Memory own) : memory(std::move(own)) {}

    Memory memory;
    int id = -1;  // of one that has not been waited for
    bool is_receive = false;
    int source = 0;
    int type = 0;
    long long bytes = -1;  // as the end told; -1: it did not
};

// How this task selects messages in this batch.
struct Selection {
    bool any_source;
    bool any_type;
};

class Batch {
  public:
    Batch(std::vector<Message>& messages, Random& own) : messages_(messages), own_(own) {
        selection_ = {own.below(2) == 0, own.below(2) == 0};
        for (const Message& message : messages)
            if (message.dest == me) wanted_.push_back(message);
        for (std::size_t i = wanted_.size(); i > 1; --i)
            std::swap(wanted_[i - 1], wanted_[own.below(i)]);
        room_ = largest(messages);
    }

    void run() {
        const std::size_t before = own_.below(wanted_.size() + 1);
        for (std::size_t i = 0; i < before; ++i) post(wanted_[i]);
        for (const Message& message : messages_)
            if (message.source == me) send(message);
        const auto ways = own_.below(3) == 0 ? 1u : 4u;
        for (std::size_t i = before; i < wanted_.size(); ++i) {
            switch (own_.below(ways)) {
                case 0:
                    post(wanted_[i]);
                    break;
                case 1:
                    probe_and_receive(wanted_[i]);
                    break;
                default:
                    receive(wanted_[i], own_.below(2) == 0);
                    break;
            }
        }
        wait();
        check();
    }

  private:
    void send(const Message& message) {
        fill(content_, message);
        const auto way = own_.below(3);
        Operation& operation = operations_.emplace_back(Memory(message.size, way == 2, own_));
        Memory& memory = operation.memory;
        memory.put(content_);
        int result = 0;
        if (way == 0) {
            result = mpc_send(memory.bytes.data(), message.size, message.dest, message.type,
                              &operation.id);
        } else if (way == 1) {
            result = mpc_bsend(memory.bytes.data(), message.size, message.dest, message.type);
        } else {
            result = mpc_bvsend(memory.bytes.data(), memory.block, memory.offset, memory.count,
                                message.dest, message.type);
        }
        if (result != 0) fail("a send", static_cast<long long>(way), mperrno);
        if (operation.id == -1) operations_.pop_back();
    }

    // Now and then too little room: the message is cut.
    Operation& new_receive(const Message& message, bool strided) {
        const bool exact = !selection_.any_source && !selection_.any_type;
        std::size_t room = exact && own_.below(2) == 0 ? message.size : room_;
        if (own_.below(10) == 0) room = own_.below(room + 1);
        Operation& operation = operations_.emplace_back(Memory(room, strided, own_));
        operation.is_receive = true;
        operation.source = selection_.any_source ? DONTCARE : message.source;
        operation.type = selection_.any_type ? DONTCARE : message.type;
        return operation;
    }

    void post(const Message& message) {
        Operation& operation = new_receive(message, false);
        if (mpc_recv(operation.memory.bytes.data(), operation.memory.block, &operation.source,
                     &operation.type, &operation.id) != 0)
            fail("mpc_recv", mperrno);
    }

    void receive(const Message& message, bool strided) {
        Operation& operation = new_receive(message, strided);
        Memory& memory = operation.memory;
        const int result =
            strided ? mpc_bvrecv(memory.bytes.data(), memory.block, memory.offset, memory.count,
                                 &operation.source, &operation.type, &operation.bytes)
                    : mpc_brecv(memory.bytes.data(), memory.block, &operation.source,
                                &operation.type, &operation.bytes);
        if (result != 0) fail("a blocking receive", strided, mperrno);
    }

    // What a probe has found is what a receive of just that gets.
    void probe_and_receive(const Message& message) {
        int source = DONTCARE;
        int type = DONTCARE;
        long long size = -1;
        while (size == -1) {
            source = selection_.any_source ? DONTCARE : message.source;
            type = selection_.any_type ? DONTCARE : message.type;
            if (mpc_probe(&source, &type, &size) != 0) fail("mpc_probe", mperrno);
        }
        const auto room = static_cast<std::size_t>(size);
        Operation& operation = operations_.emplace_back(Memory(room, false, own_));
        operation.is_receive = true;
        operation.source = source;
        operation.type = type;
        if (mpc_brecv(operation.memory.bytes.data(), room, &operation.source, &operation.type,
                      &operation.bytes) != 0)
            fail("mpc_brecv after mpc_probe", mperrno);
        if (operation.bytes != size) fail("not what mpc_probe has found", operation.bytes, size);
    }

    void wait() {
        std::vector<Operation*> open;
        for (Operation& operation : operations_)
            if (operation.id != -1) open.push_back(&operation);
        for (std::size_t i = open.size(); i > 1; --i) std::swap(open[i - 1], open[own_.below(i)]);
        const auto way = own_.below(4);
        if (way == 0 && !open.empty()) {
            int all = ALLMSG;
            long bytes = -1;
            if (mpc_wait(&all, &bytes) != 0 || bytes != 0) fail("mpc_wait for all", bytes, mperrno);
            return;
        }
        for (Operation* operation : open) {
            if (way == 1) {
                wait_for_any(open);
            } else {
                wait_for(*operation, way == 2);
            }
        }
    }

    void wait_for_any(const std::vector<Operation*>& open) {
        int id = DONTCARE;
        long long bytes = -1;
        if (mpc_wait(&id, &bytes) != 0) fail("mpc_wait for any", mperrno);
        const auto found = std::find_if(open.begin(), open.end(),
                                        [id](const Operation* one) { return one->id == id; });
        if (found == open.end()) fail("an id that is not ours, or twice", id);
        (*found)->bytes = bytes;
        (*found)->id = -1;
    }

    void wait_for(Operation& operation, bool poll) {
        int status = -1;
        while (poll && (status = mpc_status(operation.id)) == -1) {
        }
        long long bytes = -1;
        if (mpc_wait(&operation.id, &bytes) != 0) fail("mpc_wait", operation.id, mperrno);
        if (poll && bytes != status) fail("mpc_status and mpc_wait differ", status, bytes);
        if (mpc_status(operation.id) != -2) fail("an id lives on", operation.id);
        operation.bytes = bytes;
    }

    void check() {
        for (const Operation& operation : operations_) {
            if (!operation.is_receive) continue;
            // The key is the selection's: a probed receive names what a wildcard had found.
            const int type = selection_.any_type ? DONTCARE : operation.type;
            Message& message = oldest(messages_, operation.source, type);
            if (message.type != operation.type)
                fail("a later message overtook", message.type, operation.type);
            const Memory& memory = operation.memory;
            const std::size_t size = std::min(message.size, memory.block * memory.count);
            if (operation.bytes != -1 && operation.bytes != static_cast<long long>(size))
                fail("wrong length", operation.bytes, static_cast<long long>(size));
            fill(content_, message);
            if (!memory.holds(content_, size))
                fail("wrong content", message.source, static_cast<long long>(size));
            message.received = true;
        }
    }

    std::vector<Message>& messages_;
    Random& own_;
    Selection selection_{};
    std::vector<Message> wanted_;
    std::size_t room_ = 0;
    std::deque<Operation> operations_;  // receives in the order of posting
    std::vector<unsigned char> content_;
};

}  // namespace

void run_mixed(std::vector<Message>& batch, Random& own) {
    Batch(batch, own).run();
}

void exchange(Random& common, Random& own) {
    constexpr int kType = 77;
    const auto step = static_cast<int>(common.below(static_cast<unsigned>(tasks)));
    Message out{me, (me + step) % tasks, kType, 0, 0};
    Message in{(me + tasks - step) % tasks, me, kType, 0, 0};
    for (int task = 0; task < tasks; ++task) {
        const std::size_t size = draw_size(common);
        const std::uint64_t content = common.next();
        for (Message* message : {&out, &in}) {
            if (message->source != task) continue;
            message->size = size;
            message->content = content;
        }
    }
    std::vector<unsigned char> sent;
    std::vector<unsigned char> expected;
    fill(sent, out);
    fill(expected, in);
    std::vector<unsigned char> got(in.size + 1, kMark);
    int source = own.below(2) == 0 ? in.source : DONTCARE;
    int type = kType;
    std::size_t bytes = 0;
    // The partners may use one call or two.
    const bool one_call = own.below(4) != 0;
    int result = 0;
    if (one_call) {
        result = mpc_bsendrecv(sent.data(), out.size, out.dest, kType, got.data(), in.size, &source,
                               &bytes);
    } else {
        int id = -1;
        result = mpc_send(sent.data(), out.size, out.dest, kType, &id);
        if (result == 0) result = mpc_brecv(got.data(), in.size, &source, &type, &bytes);
        if (result == 0) result = mpc_wait(&id, static_cast<int*>(nullptr));
    }
    if (result != 0) fail("an exchange", one_call, mperrno);
    if (source != in.source || bytes != in.size)
        fail("an exchange with another", source, in.source);
    if (std::memcmp(got.data(), expected.data(), in.size) != 0 || got[in.size] != kMark)
        fail("wrong content of an exchange", in.source);
}

}  // namespace traffic
