// OutputFiles: one output stream with a file for each task (-outfile, -errfile). Tasks whose file
// names are equal share a file, line by line.
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
    // Creates or truncates all files. `progress`: as for OutputWriter. Throws Error with the name
    // of a file that cannot be written.
    OutputFiles(const JobSpec& job, const std::string& pattern, const LineFormatter& formatter,
                const std::function<void()>& progress);

    // To be called when tasks have been added to or removed from the end of the job. Throws Error
    // likewise.
    void set_tasks(const JobSpec& job);

    void append(TaskId task, std::string_view data, bool open);
    // Number of bytes of all files that have been appended but not yet written.
    std::size_t backlog() const;
    // The first write error, with the file's name. Empty: none.
    std::string error() const;
    // Ends open lines and blocks until everything is written. Returns false if `stop` returned true
    // before that.
    bool finish(const std::function<bool()>& stop);
    // See OutputWriter::abandon.
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
