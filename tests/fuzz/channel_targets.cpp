// Frames and control messages against anything that a peer may send.
#include "tests/fuzz/channel_targets.hpp"

#include <cstring>
#include <fstream>

#include "base/hash.hpp"
#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/message_codec.hpp"
#include "partition_manager/channel/messages.hpp"
#include "tests/fuzz/channel_messages.hpp"

namespace poe::fuzz {
namespace {

// A number that depends on all of the input: one seed for what is done with it.
std::uint64_t hash_of(const std::string& input) {
    return Hash64().add(input).value();
}

// ---- bytes, in pieces, to a FrameReader

struct Read {
    std::string frames;  // all that was handed out, in one text
    std::string error;
    std::size_t bytes = 0;  // of frames that were complete
};

// Cuts at places that `random` says; all at once without it.
Read read_frames(const std::string& input, Random* random) {
    Read result;
    pm::FrameReader reader;
    for (std::size_t at = 0; at < input.size() && result.error.empty();) {
        const std::size_t left = input.size() - at;
        const std::size_t count =
            random == nullptr ? left : std::min(left, random->below(random->below(300) + 1));
        const std::span<char> space = reader.prepare(count);
        if (space.size() < count) return {"", "not the space that was asked for", 0};
        if (count > 0) std::memcpy(space.data(), input.data() + at, count);
        reader.commit(count);
        at += count;
        pm::Frame frame;
        pm::FrameReader::Status status;
        while ((status = reader.next(frame)) == pm::FrameReader::Status::kFrame) {
            char header[pm::kFrameHeaderBytes];
            pm::write_frame_header(header, frame.kind, frame.flags, frame.task,
                                   frame.payload.size());
            result.frames.append(header, sizeof header).append(frame.payload);
        }
        if (status == pm::FrameReader::Status::kBad) {
            result.error = reader.error();
            if (result.error.empty()) return {"", "bad without a word", 0};
            if (reader.next(frame) != pm::FrameReader::Status::kBad)
                return {"", "good again after it was bad", 0};
        }
    }
    return result;
}

std::string run_frames(const std::string& input) {
    const Read whole = read_frames(input, nullptr);
    Random random(hash_of(input));
    const Read pieces = read_frames(input, &random);
    if (whole.frames != pieces.frames) return "other frames when it comes in pieces";
    if (whole.error != pieces.error) return "another error when it comes in pieces";
    // What was handed out are the bytes that came in.
    if (input.compare(0, whole.frames.size(), whole.frames) != 0)
        return "a frame is not what was sent";
    if (whole.error.empty() && input.size() - whole.frames.size() >= pm::kFrameHeaderBytes) {
        pm::FrameReader reader;
        const std::string rest = input.substr(whole.frames.size());
        std::memcpy(reader.prepare(rest.size()).data(), rest.data(), rest.size());
        reader.commit(rest.size());
        pm::Frame frame;
        if (reader.next(frame) != pm::FrameReader::Status::kNeedMore)
            return "a frame was left behind";
    }
    return "";
}

// ---- bytes to decode()

// What decode() takes, it gives back: written again it is the same message.
std::string check_message(const std::string& cbor) {
    const auto message = pm::decode(cbor);
    if (!message) return "";
    const auto again = pm::decode(pm::encode(*message));
    if (!again) return "cannot be read again";
    if (*message != *again) return "is read differently again";
    if (const auto* start = std::get_if<pm::StartJob>(&*message)) {
        const pm::JobSpec& job = start->job;
        if (start->node < 0 || static_cast<std::size_t>(start->node) >= job.nodes.size())
            return "a node that is not there";
        for (const pm::TaskSpec& task : job.tasks)
            if (task.node < 0 || static_cast<std::size_t>(task.node) >= job.nodes.size() ||
                task.command >= job.commands.size() || job.commands[task.command].empty())
                return "a task without node or command";
    }
    return "";
}

std::string run_decode(const std::string& input) {
    return check_message(input);
}

// ---- damaged messages of every kind

// The input says which message, and what is done to its bytes.
std::string run_mutated(const std::string& input) {
    Random random(hash_of(input));
    std::string cbor = pm::encode(random_message(input.size() % kMessageKinds, random));
    for (std::size_t i = 0; i < input.size() && i < 8 && !cbor.empty(); ++i) {
        const std::size_t at = random.below(cbor.size());
        switch (random.below(5)) {
            case 0:
                cbor[at] = input[i];
                break;
            case 1:
                cbor[at] = static_cast<char>(cbor[at] ^ (1 << random.below(8)));
                break;
            case 2:
                cbor.erase(at, 1 + random.below(4));
                break;
            case 3:
                cbor.insert(at, input.substr(i, random.below(16)));
                break;
            default:
                cbor.insert(at, cbor.substr(random.below(cbor.size()), 12));
                break;
        }
    }
    return check_message(cbor);
}

// ---- round trips

std::string run_round_trip(const std::string& input) {
    Random random(hash_of(input));
    const std::size_t which = random.below(kMessageKinds);
    const pm::Message message = random_message(which, random);
    const std::string cbor = pm::encode(message);
    const auto again = pm::decode(cbor);
    if (!again) return "message " + std::to_string(which) + " cannot be read";
    if (message != *again) return "message " + std::to_string(which) + " is read differently";
    if (pm::encode(*again) != cbor)
        return "message " + std::to_string(which) + " is written differently";
    return "";
}

const std::vector<std::string_view> kWords = {
    std::string_view("\0\0\0\0\1\0\0\0\0\0\0\0", 12),
    std::string_view("\3\0\0\0\2\1\0\0\5\0\0\0abc", 15),
    std::string_view("\0\0\x10\0\2\0\0\0", 8),
    std::string_view("\xff\xff\xff\xff", 4),
    std::string_view("\0\0", 2),
    "\x80",
    "\x81",
    "\x82",
    "\x9f",
    "\xff",
    "\x5f",
    "\x7f",
    "\x5f\x5f\x5f\x5f\x5f\x5f\x5f\x5f",
    "\x41x",
    "\x61x",
    "\xa1",
    "\xc0",
    "\xf4",
    "\xf5",
    "\xf6",
    "\xf7",
    "\xf9\x3e",
    "\xfb\x7f\xef\xff\xff\xff\xff\xff\xff",
    "\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
    "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff",
    "\x5b\x7f\xff\xff\xff\xff\xff\xff\xff",
    "\x9b\x7f\xff\xff\xff\xff\xff\xff\xff",
    std::string_view("\x1b\0\0\0\1\0\0\0\0", 9),
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string frame_of(pm::FrameKind kind, TaskId task, const std::string& payload) {
    char header[pm::kFrameHeaderBytes];
    pm::write_frame_header(header, kind, pm::kFlagOpenLine, task, payload.size());
    return std::string(header, sizeof header) + payload;
}

}  // namespace

const std::vector<FuzzTarget>& channel_targets() {
    static const std::vector<FuzzTarget> all = {{"frames", run_frames, kWords},
                                                {"decode", run_decode, kWords},
                                                {"mutated", run_mutated, kWords},
                                                {"round_trip", run_round_trip, kWords}};
    return all;
}

void write_channel_corpus(const std::string& folder) {
    Random random(1995);
    std::string stream;
    for (std::size_t which = 0; which < kMessageKinds; ++which) {
        const std::string cbor = pm::encode(random_message(which, random));
        write_file(folder + "/message_" + std::to_string(which), cbor);
        stream += frame_of(pm::FrameKind::kControl, -1, cbor);
        stream += frame_of(pm::FrameKind::kStdout, static_cast<TaskId>(which), "line\nhalf");
    }
    write_file(folder + "/frames_all", stream);
    write_file(folder + "/frames_cut", stream.substr(0, stream.size() / 2));
    write_file(folder + "/frames_large",
               frame_of(pm::FrameKind::kStdin, -1, std::string(9000, 'x')) +
                   frame_of(pm::FrameKind::kCredit, -1, std::string("\0\0\x40\0\0\0\0\0", 8)));
    write_file(folder + "/frame_too_long", std::string("\1\0\x10\0\2\0\0\0\0\0\0\0", 12));
    write_file(folder + "/frame_bad_kind", std::string("\0\0\0\0\6\0\0\0\0\0\0\0", 12));
    write_file(folder + "/frame_reserved", std::string("\0\0\0\0\2\0\1\0\0\0\0\0", 12));
    write_file(folder + "/nested_arrays", std::string(4000, '\x81'));
    write_file(folder + "/nested_bytes", std::string(4000, '\x5f'));
    write_file(folder + "/nested_text", std::string(4000, '\x7f'));
    write_file(folder + "/text", "Last login: Mon Nov 20 12:00:00 on tty1\n");
    write_file(folder + "/empty", "");
}

}  // namespace poe::fuzz
