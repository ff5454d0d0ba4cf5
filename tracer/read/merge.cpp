// Implementation of merge.hpp.
#include "tracer/read/merge.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "tracer/probe/format.hpp"
#include "tracer/read/block_sums.hpp"

namespace poe::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPortion = std::size_t{32} << 20;
constexpr std::size_t kSumPortion = std::size_t{3} << 18;  // a multiple of a record's size
constexpr std::string_view kStreamSuffix = ".stream";

struct Part {
    std::string path;
    UniqueFd file;
    StreamKind kind = StreamKind::kTask;
    std::int32_t number = 0;    // task or node
    std::int32_t tasks = 0;     // of the job
    std::uint64_t records = 0;  // records after the header, written or at least reserved
    std::uint64_t lost = 0;
    Bytes bytes = 0;  // after the header

    auto place() const { return std::tuple(static_cast<std::uint32_t>(kind), number); }
};

// Reads the header of a file of `size` bytes into `part`. False: the file is not a stream.
bool read_part(Part& part, Bytes size) {
    StreamHeader header;
    if (::pread(part.file.get(), static_cast<void*>(&header), sizeof header, 0) !=
            static_cast<ssize_t>(sizeof header) ||
        size < kHeaderBytes || header.magic != kMagic || header.version < kOldestVersion ||
        header.version > kVersion || header.byte_order != kByteOrder ||
        header.header_bytes != kHeaderBytes || header.record_bytes != sizeof(Record))
        return false;
    part.kind = header.kind;
    part.tasks = header.tasks;
    const Bytes held = size - kHeaderBytes;
    switch (header.kind) {
        case StreamKind::kJob:
            part.bytes = std::min<Bytes>(header.length, held);
            return true;
        case StreamKind::kNode:
        case StreamKind::kTask:
        case StreamKind::kSamples:
            part.number = header.kind == StreamKind::kTask ? header.task : header.node;
            part.records =
                std::min<std::uint64_t>({header.reserved, header.capacity, held / sizeof(Record)});
            part.bytes = part.records * sizeof(Record);
            part.lost = header.lost;
            return true;
    }
    return false;
}

std::vector<Part> find_parts(const std::string& directory, MergeReport& report) {
    std::vector<Part> parts;
    std::error_code fault;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, fault)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(kStreamSuffix)) continue;
        Part part;
        part.path = entry.path().string();
        part.file.reset(::open(part.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        struct stat status = {};
        if (!part.file || ::fstat(part.file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
            !read_part(part, static_cast<Bytes>(status.st_size)))
            report.damaged.push_back(part.path);
        else
            parts.push_back(std::move(part));
    }
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.place() < b.place(); });
    return parts;
}

// Copies within the kernel if the file systems support it.
class Copier {
  public:
    Copier(const UniqueFd& out, const std::string& name) : out_(out.get()), name_(name) {}

    // Copies from the input's position to the output's position. Throws Error.
    void copy(const Part& from, Bytes bytes, const std::function<bool()>& stop, bool& stopped) {
        if (::lseek(from.file.get(), static_cast<off_t>(kHeaderBytes), SEEK_SET) < 0)
            throw_errno("cannot read " + from.path);
        while (bytes > 0) {
            if (stop && stop()) {
                stopped = true;
                return;
            }
            const ssize_t count = some(from.file.get(), std::min<Bytes>(bytes, kPortion));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw_errno("cannot copy " + from.path + " to " + name_);
            if (count == 0) throw Error(from.path + " has become shorter while it was merged");
            bytes -= static_cast<Bytes>(count);
        }
    }

  private:
    ssize_t some(int in, std::size_t most) {
        if (by_range_) {
            const ssize_t count = ::copy_file_range(in, nullptr, out_, nullptr, most, 0);
            const bool unable = count < 0 && (errno == EXDEV || errno == EINVAL ||
                                              errno == ENOSYS || errno == EOPNOTSUPP);
            // Some file systems return 0 if they do not support it.
            if (!unable && count != 0) return count;
            by_range_ = false;
        }
        return ::sendfile(out_, in, nullptr, most);
    }

    int out_;
    const std::string& name_;
    bool by_range_ = true;
};

// Computes the latest time of the records of a stream. Records come in the order of their slots.
class LastTime {
  public:
    explicit LastTime(const StreamHeader& header)
        : reserved_(header.reserved), capacity_(std::max<std::uint64_t>(header.capacity, 1)) {}

    void note(std::span<const Record> records) {
        for (const Record& record : records) {
            // The last lap in which this slot was used.
            const std::uint64_t laps =
                place_ < reserved_ ? (reserved_ - 1 - place_) / capacity_ : 0;
            const bool whole = place_++ < reserved_ && record.mark() == mark_of(laps);
            if (!whole || record.kind == Kind::kNone || record.kind == Kind::kText) continue;
            time_ += static_cast<std::uint64_t>(
                static_cast<std::int64_t>((record.time() - time_) << kUnused) >> kUnused);
            const std::uint64_t duration = (last_time_of(record) - record.time()) & kTimeMask;
            latest_ = std::max(latest_, static_cast<std::int64_t>(time_ + duration));
        }
    }
    std::uint64_t latest() const { return static_cast<std::uint64_t>(latest_); }

  private:
    static constexpr int kUnused = 16;

    std::uint64_t reserved_;
    std::uint64_t capacity_;
    std::uint64_t place_ = 0;
    std::uint64_t time_ = 0;
    std::int64_t latest_ = 0;
};

// Reads the bytes of a part and sets the header fields that only a gathered stream has: length and
// sums.
void complete(HeaderPage page, const Part& part, Bytes length, const std::function<bool()>& stop,
              bool& stopped) {
    auto* header = reinterpret_cast<StreamHeader*>(page.data());
    const std::uint64_t all = padded(length);
    header->version = kVersion;
    header->length = length;
    header->block_bytes = block_bytes_for(all);
    LastTime last(*header);
    std::vector<Record> records(kSumPortion / sizeof(Record));
    Bytes at = 0;
    std::uint32_t sum = 0;
    std::uint64_t summed = 0;
    const auto add = [&](std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const std::uint64_t room = header->block_bytes - summed % header->block_bytes;
            const auto count = std::min<std::size_t>(bytes.size(), room);
            sum = sum_of(bytes.first(count), sum);
            summed += count;
            bytes = bytes.subspan(count);
            if (summed % header->block_bytes != 0 && summed < all) continue;
            set_block_sum(page, (summed - 1) / header->block_bytes, sum);
            sum = 0;
        }
    };
    while (at < part.bytes) {
        if (stop && stop()) {
            stopped = true;
            return;
        }
        const std::size_t want = std::min<Bytes>(part.bytes - at, records.size() * sizeof(Record));
        std::size_t have = 0;
        while (have < want) {
            const ssize_t count =
                ::pread(part.file.get(), reinterpret_cast<std::byte*>(records.data()) + have,
                        want - have, static_cast<off_t>(kHeaderBytes + at + have));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw_errno("cannot read " + part.path);
            if (count == 0) throw Error(part.path + " has become shorter while it was merged");
            have += static_cast<std::size_t>(count);
        }
        add(std::as_bytes(std::span(records)).first(want));
        if (part.kind != StreamKind::kJob)
            last.note(std::span(records).first(want / sizeof(Record)));
        at += want;
    }
    const std::vector<std::byte> zeros(static_cast<std::size_t>(all - part.bytes));
    add(zeros);
    header->last_time = last.latest();
    seal(page);
}

// A length of 0 would mean that the stream is still open, so an empty stream gets one hole.
Bytes length_of(const Part& part) {
    return part.bytes > 0 ? part.bytes : sizeof(Record);
}

void write_header(int out, const Part& part, const std::string& name,
                  const std::function<bool()>& stop, bool& stopped) {
    std::vector<std::byte> page(kHeaderBytes);
    if (::pread(part.file.get(), page.data(), page.size(), 0) != static_cast<ssize_t>(page.size()))
        throw_errno("cannot read " + part.path);
    complete(HeaderPage(page), part, length_of(part), stop, stopped);
    if (stopped) return;
    if (::write(out, page.data(), page.size()) != static_cast<ssize_t>(page.size()))
        throw_errno("cannot write " + name);
}

// The temporary output file; deleted unless it was renamed.
struct Unfinished {
    std::string path;
    bool renamed = false;
    ~Unfinished() {
        if (!renamed) ::unlink(path.c_str());
    }
};

void append(const UniqueFd& out, Copier& copier, const Part& part, const std::string& name,
            const std::function<bool()>& stop, bool& stopped) {
    const off_t begin = ::lseek(out.get(), 0, SEEK_CUR);
    write_header(out.get(), part, name, stop, stopped);
    if (!stopped) copier.copy(part, part.bytes, stop, stopped);
    if (stopped) return;
    const auto end = begin + static_cast<off_t>(kHeaderBytes + padded(length_of(part)));
    if (begin < 0 || ::ftruncate(out.get(), end) != 0 || ::lseek(out.get(), end, SEEK_SET) < 0)
        throw_errno("cannot write " + name);
}

}  // namespace

std::string merged_name(const std::string& directory) {
    std::string name = directory;
    while (name.size() > 1 && name.back() == '/') name.pop_back();
    if (name.ends_with(kPartsSuffix)) {
        name.resize(name.size() - kPartsSuffix.size());
        const std::size_t dot = name.rfind('.');
        const std::size_t slash = name.rfind('/');
        if (dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1))
            name.resize(dot);
    }
    if (!name.ends_with(".trc")) name += ".trc";
    return name;
}

Result<MergeReport> merge_trace(const std::string& directory, const std::string& output,
                                const std::function<bool()>& stop) {
    MergeReport report;
    const std::vector<Part> parts = find_parts(directory, report);
    if (parts.empty())
        return UserError{.source = directory,
                         .text = "there are no streams of a trace in it",
                         .expected = "give a directory that poe has named, *.parts"};
    Unfinished unfinished{output + ".unfinished"};
    const UniqueFd out(
        ::open(unfinished.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!out) throw_errno("cannot make " + unfinished.path);
    Copier copier(out, unfinished.path);
    std::int32_t next = 0;
    std::int32_t tasks = 0;
    for (const Part& part : parts) {
        bool stopped = false;
        append(out, copier, part, unfinished.path, stop, stopped);
        if (stopped) return report;
        report.records += part.records;
        report.lost += part.lost;
        tasks = std::max(tasks, part.tasks);
        if (part.kind != StreamKind::kTask) continue;
        ++report.tasks;
        for (; next < part.number; ++next) report.absent.push_back(next);
        next = part.number + 1;
    }
    for (; next < tasks; ++next) report.absent.push_back(next);
    report.bytes = static_cast<Bytes>(std::max<off_t>(::lseek(out.get(), 0, SEEK_CUR), 0));
    // The streams are deleted only after the data are on disk, because a disk may report late that
    // it is full (NFS).
    if (::fdatasync(out.get()) != 0 || ::rename(unfinished.path.c_str(), output.c_str()) != 0)
        throw_errno("cannot make " + output);
    unfinished.renamed = true;
    report.file = output;
    for (const Part& part : parts) ::unlink(part.path.c_str());
    ::rmdir(directory.c_str());
    return report;
}

}  // namespace poe::trace
