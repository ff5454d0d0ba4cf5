// A record means the same when it is written and read again. A list of tasks names tasks of the job
// only. A command has a name. The name of a core file's program is part of the file.
#include "tests/fuzz/debugger_targets.hpp"

#include "debugger/commands.hpp"
#include "debugger/core_files.hpp"
#include "debugger/mi_record.hpp"
#include "debugger/task_set.hpp"

namespace poe::fuzz {
namespace {

using namespace debugger;

std::string written(const MiValue& value) {
    if (value.kind == MiValue::Kind::kText) return mi_quoted(value.text);
    const bool tuple = value.kind == MiValue::Kind::kTuple;
    std::string text = tuple ? "{" : "[";
    for (const auto& [name, item] : value.items) {
        if (text.size() > 1) text += ',';
        text += (name.empty() ? "" : name + "=") + written(item);
    }
    return text + (tuple ? "}" : "]");
}

std::string written(const MiRecord& record) {
    constexpr std::string_view kSigns = "^*+=~@&";
    std::string text = record.token ? std::to_string(*record.token) : "";
    text += kSigns[static_cast<std::size_t>(record.kind)];
    if (record.kind >= MiRecord::Kind::kConsole) return text + mi_quoted(record.text);
    text += record.name;
    for (const auto& [name, item] : record.results.items)
        text += "," + (name.empty() ? "" : name + "=") + written(item);
    return text;
}

std::string run_mi(const std::string& input) {
    const MiRecord record = parse_mi(input);
    if (record.kind == MiRecord::Kind::kPrompt || record.kind == MiRecord::Kind::kOther) return "";
    // An escape may stand for a carriage return, which is written as it is.
    const MiRecord again = parse_mi(written(record));
    if (again.kind != record.kind || again.token != record.token || again.name != record.name)
        return "the record is read differently again";
    if (again.text != record.text) return "the text is read differently again";
    return again.results == record.results ? "" : "the values are read differently again";
}

std::string run_core(const std::string& input) {
    const std::string program = program_of_core(input);
    return input.find(program) != std::string::npos ? "" : "the program is not in the file";
}

std::string run_command(const std::string& input) {
    constexpr TaskId kTasks = 64;
    const auto tasks = parse_tasks(input, kTasks);
    if (tasks) {
        if (tasks.value().empty()) return "a list without tasks";
        if (*tasks.value().begin() < 0 || *tasks.value().rbegin() >= kTasks) return "no such task";
        const auto again = parse_tasks(in_ranges(tasks.value()), kTasks);
        if (!again || again.value() != tasks.value()) return "the list is read differently again";
    }
    const auto command = parse_command(input);
    if (command && command->name.empty()) return "a command without a name";
    return "";
}

}  // namespace

const std::vector<FuzzTarget>& debugger_targets() {
    static const std::vector<FuzzTarget> kTargets = {
        {"mi", run_mi, {"^done", "*stopped", "={", "=[", "\",", "frame=", "\\303", "(gdb)"}},
        {"debugger_core_file", run_core, {"\177ELF\002", "CORE", "/bin/ls", "ELIF"}},
        {"debugger_command", run_command, {"on ", "group ", "0-63", "3:7", ",", "$task", "&"}},
    };
    return kTargets;
}

}  // namespace poe::fuzz
