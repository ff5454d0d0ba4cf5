// See output_files.hpp.
#include "partition_manager/stdio/output_files.hpp"

#include <cstring>
#include <fcntl.h>
#include <map>

#include "base/error.hpp"
#include "partition_manager/job/name_pattern.hpp"

namespace poe::pm {

OutputFiles::OutputFiles(const JobSpec& job, const std::string& pattern,
                         const LineFormatter& formatter, const std::function<void()>& progress)
    : pattern_(pattern), formatter_(formatter), progress_(progress) {
    set_tasks(job);
}

void OutputFiles::set_tasks(const JobSpec& job) {
    if (of_task_.size() > job.tasks.size()) of_task_.resize(job.tasks.size());
    std::map<std::string, File*> by_path;
    for (const auto& file : files_) by_path[file->path] = file.get();
    for (std::size_t task = of_task_.size(); task < job.tasks.size(); ++task) {
        const std::string path = expand_pattern(pattern_, job, static_cast<TaskId>(task));
        File*& file = by_path[path];
        if (file == nullptr) {
            UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
            if (!fd)
                throw_errno("cannot write the output of task " + std::to_string(task) + " to " +
                            path);
            const int number = fd.get();
            files_.push_back(
                std::make_unique<File>(File{path, std::move(fd), formatter_,
                                            std::make_unique<OutputWriter>(number, progress_)}));
            file = files_.back().get();
        }
        of_task_.push_back(file);
    }
}

void OutputFiles::append(TaskId task, std::string_view data, bool open) {
    File& file = *of_task_[static_cast<std::size_t>(task)];
    file.writer->append(
        [&](std::string& pending) { file.formatter.append(pending, task, data, open); });
}

std::size_t OutputFiles::backlog() const {
    std::size_t sum = 0;
    for (const auto& file : files_) sum += file->writer->backlog();
    return sum;
}

std::string OutputFiles::error() const {
    for (const auto& file : files_)
        if (const int error = file->writer->error(); error != 0)
            return file->path + ": " + std::strerror(error);
    return "";
}

bool OutputFiles::finish(const std::function<bool()>& stop) {
    for (const auto& file : files_) {
        file->writer->append([&](std::string& pending) { file->formatter.finish(pending); });
        if (!file->writer->wait_until_below(0, stop)) return false;
    }
    return true;
}

void OutputFiles::abandon() {
    for (const auto& file : files_) file->writer->abandon();
}

}  // namespace poe::pm
