// Implementation of stream_file.hpp.
#include "tracer/probe/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kFewestRecords = 4096;

std::uint64_t read_clock(clockid_t clock) noexcept {
    timespec now = {};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void write_at(int fd, std::string_view bytes, std::size_t offset, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw_errno("cannot write the trace stream " + path);
        bytes.remove_prefix(static_cast<std::size_t>(n));
        offset += static_cast<std::size_t>(n);
    }
}

}  // namespace

std::string stream_name(StreamKind kind, std::int32_t number) {
    switch (kind) {
        case StreamKind::kJob:
            break;
        case StreamKind::kNode:
            return "node-" + std::to_string(number) + ".stream";
        case StreamKind::kTask:
            return "task-" + std::to_string(number) + ".stream";
        case StreamKind::kSamples:
            return "samples-" + std::to_string(number) + ".stream";
    }
    return "job.stream";
}

std::uint64_t records_in(Bytes bytes) noexcept {
    return std::max<std::uint64_t>(bytes / sizeof(Record), kFewestRecords);
}

std::uint64_t monotonic_ns() noexcept {
    return read_clock(CLOCK_MONOTONIC);
}

std::uint64_t wall_ns() noexcept {
    return read_clock(CLOCK_REALTIME);
}

void create_stream(const std::string& path, const StreamHeader& header) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd) throw_errno("cannot make the trace stream " + path);
    std::string page(kHeaderBytes, '\0');
    std::memcpy(page.data(), static_cast<const void*>(&header), sizeof header);
    write_at(fd.get(), page, 0, path);
}

void create_job_stream(const std::string& path, StreamHeader& header, std::string_view json) {
    header.kind = StreamKind::kJob;
    header.length = json.size();
    create_stream(path, header);
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) throw_errno("cannot open the trace stream " + path);
    write_at(fd.get(), json, kHeaderBytes, path);
}

}  // namespace poe::trace
