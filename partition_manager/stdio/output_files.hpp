// OutputFiles: where one output stream goes when each task has a file for it (-outfile, -errfile).
// Tasks whose names come out the same share a file, line by line.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/stdio/line_formatter.hpp"
#include "partition_manager/stdio/output_writer.hpp"

namespace poe::pm {

class OutputFiles {
  public:
    // Opens all files, making them empty. `progress` as for OutputWriter. Throws Error naming the
    // file that cannot be written.
    OutputFiles(const JobSpec& job, const std::string& pattern, const LineFormatter& formatter,
                const std::function<void()>& progress);

    // The job has other tasks at its end than before. Throws Error likewise.
    void set_tasks(const JobSpec& job);

    void append(TaskId task, std::string_view data, bool open);
    // Bytes appended and not yet written, of all files.
    std::size_t backlog() const;
    // What went wrong in writing, with the file's name; empty: nothing.
    std::string error() const;
    // Ends open lines and waits for all writes; false when `stop` said so first.
    bool finish(const std::function<bool()>& stop);
    // See OutputWriter.
    void abandon();

  private:
    struct File {
        std::string path;
        UniqueFd fd;
        LineFormatter formatter;
        std::unique_ptr<OutputWriter> writer;
    };
    std::string pattern_;
    LineFormatter formatter_;
    std::function<void()> progress_;
    std::vector<std::unique_ptr<File>> files_;
    std::vector<File*> of_task_;
};

}  // namespace poe::pm
