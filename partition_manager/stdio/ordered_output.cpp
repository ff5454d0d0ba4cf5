// Keeps and spills ordered output; see ordered_output.hpp.
#include "partition_manager/stdio/ordered_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kPiece = 256 << 10;

// Writes at `offset`, so a previous attempt that failed does no harm.
void write_all(int fd, std::uint64_t offset, std::string_view text, const std::string& directory) {
    while (!text.empty()) {
        const ssize_t count = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            throw Error("cannot keep ordered output in a temporary file in " + directory +
                            " (set TMPDIR to a place with space, or use -stdoutmode unordered)",
                        errno);
        text.remove_prefix(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
}

}  // namespace

OrderedOutput::OrderedOutput(TaskId tasks, std::string directory, std::size_t memory_limit)
    : kept_(static_cast<std::size_t>(tasks)),
      directory_(std::move(directory)),
      memory_limit_(memory_limit) {}

void OrderedOutput::append(TaskId task, std::string_view data) {
    kept_.at(static_cast<std::size_t>(task)).in_memory.append(data);
    in_memory_ += data.size();
    if (in_memory_ > memory_limit_) spill();
}

void OrderedOutput::spill() {
    if (!file_) {
        std::string name = directory_ + "/poe-ordered-XXXXXX";
        file_.reset(::mkostemp(name.data(), O_CLOEXEC));
        if (!file_)
            throw Error("cannot make a temporary file in " + directory_ +
                            " for ordered output (set TMPDIR to a place where you may write)",
                        errno);
        ::unlink(name.c_str());
    }
    for (Kept& kept : kept_) {
        if (kept.in_memory.empty()) continue;
        write_all(file_.get(), file_size_, kept.in_memory, directory_);
        const std::uint64_t length = kept.in_memory.size();
        if (!kept.in_file.empty() &&
            kept.in_file.back().offset + kept.in_file.back().length == file_size_)
            kept.in_file.back().length += length;
        else
            kept.in_file.push_back({file_size_, length});
        file_size_ += length;
        kept.in_memory = std::string();
        in_memory_ -= length;
    }
}

bool OrderedOutput::give_file(Kept& kept, TaskId task,
                              const std::function<bool(TaskId, std::string_view)>& take) {
    std::string piece;
    while (!kept.in_file.empty()) {
        Extent& extent = kept.in_file.front();
        piece.resize(std::min<std::uint64_t>(kPiece, extent.length));
        const ssize_t count =
            ::pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(extent.offset));
        if (count <= 0) throw_errno("reading ordered output back from its temporary file");
        piece.resize(static_cast<std::size_t>(count));
        extent.offset += piece.size();
        extent.length -= piece.size();
        if (extent.length == 0) kept.in_file.erase(kept.in_file.begin());
        if (!take(task, piece)) return false;
    }
    return true;
}

bool OrderedOutput::give_memory(Kept& kept, TaskId task,
                                const std::function<bool(TaskId, std::string_view)>& take) {
    while (kept.given < kept.in_memory.size()) {
        const std::string_view piece = std::string_view(kept.in_memory).substr(kept.given, kPiece);
        kept.given += piece.size();
        if (!take(task, piece)) return false;
    }
    return true;
}

bool OrderedOutput::give_out(const std::function<bool(TaskId, std::string_view)>& take) {
    for (; giving_ < kept_.size(); ++giving_) {
        const auto task = static_cast<TaskId>(giving_);
        if (!give_file(kept_[giving_], task, take) || !give_memory(kept_[giving_], task, take))
            return false;
        kept_[giving_] = Kept();
    }
    giving_ = 0;
    in_memory_ = 0;
    file_size_ = 0;
    file_.reset();
    return true;
}

}  // namespace poe::pm
