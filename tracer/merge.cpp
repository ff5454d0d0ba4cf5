// See merge.hpp.
#include "tracer/merge.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include "comm/base/error.hpp"
#include "comm/base/unique_fd.hpp"
#include "tracer/probe/format.hpp"

namespace poe::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPortion = std::size_t{32} << 20;
constexpr std::string_view kStreamSuffix = ".stream";

struct Part {
    std::string path;
    UniqueFd file;
    StreamKind kind = StreamKind::kTask;
    std::int32_t number = 0;    // task or node
    std::int32_t tasks = 0;     // of the job
    std::uint64_t records = 0;  // that are, or were to be, behind the header
    std::uint64_t lost = 0;
    Bytes bytes = 0;  // behind the header

    auto place() const { return std::tuple(static_cast<std::uint32_t>(kind), number); }
};

// The header of a file of `size` bytes as far as it makes sense; nothing: it is no stream.
bool read_part(Part& part, Bytes size) {
    StreamHeader header;
    if (::pread(part.file.get(), static_cast<void*>(&header), sizeof header, 0) !=
            static_cast<ssize_t>(sizeof header) ||
        size < kHeaderBytes || header.magic != kMagic || header.version != kVersion ||
        header.byte_order != kByteOrder || header.header_bytes != kHeaderBytes ||
        header.record_bytes != sizeof(Record))
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

// Copies without the bytes passing through this process, where the systems of both files can.
class Copier {
  public:
    Copier(const UniqueFd& out, const std::string& name) : out_(out.get()), name_(name) {}

    // From the input's own position to the output's. Throws Error.
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
            // Some systems of files say 0 when they cannot.
            if (!unable && count != 0) return count;
            by_range_ = false;
        }
        return ::sendfile(out_, in, nullptr, most);
    }

    int out_;
    const std::string& name_;
    bool by_range_ = true;
};

void write_header(int out, const Part& part, Bytes length, const std::string& name) {
    std::string page(kHeaderBytes, '\0');
    if (::pread(part.file.get(), page.data(), page.size(), 0) != static_cast<ssize_t>(page.size()))
        throw_errno("cannot read " + part.path);
    auto* header = reinterpret_cast<StreamHeader*>(page.data());
    header->length = length;
    if (::write(out, page.data(), page.size()) != static_cast<ssize_t>(page.size()))
        throw_errno("cannot write " + name);
}

// The temporary name; removed unless it has been renamed.
struct Unfinished {
    std::string path;
    bool renamed = false;
    ~Unfinished() {
        if (!renamed) ::unlink(path.c_str());
    }
};

void append(const UniqueFd& out, Copier& copier, const Part& part, const std::string& name,
            const std::function<bool()>& stop, bool& stopped) {
    // A length of 0 would say that nothing follows this stream: a hole does not.
    write_header(out.get(), part, part.bytes > 0 ? part.bytes : sizeof(Record), name);
    copier.copy(part, part.bytes, stop, stopped);
    const off_t end = ::lseek(out.get(), 0, SEEK_CUR);
    const Bytes least = std::max<Bytes>(static_cast<Bytes>(end), 1);
    Bytes padded = (least + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
    if (part.bytes == 0) padded += kHeaderBytes;
    if (end < 0 || ::ftruncate(out.get(), static_cast<off_t>(padded)) != 0 ||
        ::lseek(out.get(), static_cast<off_t>(padded), SEEK_SET) < 0)
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
    // The streams go only when the file is safe from a disk that is full later (NFS).
    if (::fdatasync(out.get()) != 0 || ::rename(unfinished.path.c_str(), output.c_str()) != 0)
        throw_errno("cannot make " + output);
    unfinished.renamed = true;
    report.file = output;
    for (const Part& part : parts) ::unlink(part.path.c_str());
    ::rmdir(directory.c_str());
    return report;
}

}  // namespace poe::trace
