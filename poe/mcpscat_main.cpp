// mcpscat: distributes files of task 0 among the tasks of a job. An MPL program: mcpscat
// 'input/part.*' /tmp/input -procs 16
#include <filesystem>

#include "poe/copy_program.hpp"

namespace {

namespace copy = poe::copy;
namespace fs = std::filesystem;

constexpr const char* kUsage =
    "usage: mcpscat [-i] SOURCE... DIRECTORY [poe flags]\n"
    "Deals the files of task 0 out, one to each task in turn, into DIRECTORY there. A single "
    "file goes to all tasks; of a single directory, its files are dealt out; wildcards in "
    "quotes are expanded by task 0. -i: existing files stay. See mcpscat(1).\n";

std::vector<std::string> items_of(const std::vector<std::string>& patterns) {
    std::vector<std::string> items;
    for (const std::string& pattern : patterns)
        for (std::string& path : copy::expand_pattern(pattern)) items.push_back(std::move(path));
    if (items.size() != 1 || !fs::is_directory(items[0])) return items;
    return copy::expand_pattern(items[0] + "/*");
}

void send_item(const copy::Link& link, const std::string& item,
               std::vector<std::string>& troubles) {
    for (const copy::Source& entry : copy::expand_tree({item, copy::last_name(item)}, troubles)) {
        std::string trouble;
        if (!send_entry(link, entry, trouble)) troubles.push_back(std::move(trouble));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const copy::Program program = copy::begin(argc, argv, "i", 2, kUsage);
    const copy::Link all = copy::to_all();
    copy::ReceiveOptions options;
    options.keep_existing = program.has('i');
    options.target = program.operands.back();
    std::vector<std::string> troubles;
    std::error_code error;
    fs::create_directories(options.target, error);

    bool to_all = false;
    if (program.me != 0) {
        all.get(&to_all, sizeof to_all);
        return finish(program, receive_entries(to_all ? all : copy::to_task(0), options));
    }
    const std::vector<std::string> items =
        items_of({program.operands.begin(), program.operands.end() - 1});
    to_all = items.size() == 1 && fs::is_regular_file(items[0]);
    all.put(&to_all, sizeof to_all);
    const auto more =
        send_here_too(to_all ? all : copy::Link(), options, [&](const copy::Link& here) {
            for (std::size_t i = 0; i < items.size(); ++i) {
                const int task = static_cast<int>(i % static_cast<std::size_t>(program.tasks));
                send_item(task == 0 ? here : copy::to_task(task), items[i], troubles);
            }
            send_end(here);
            for (int task = 1; task < program.tasks && !to_all; ++task)
                send_end(copy::to_task(task));
        });
    troubles.insert(troubles.end(), more.begin(), more.end());
    return finish(program, troubles);
}
