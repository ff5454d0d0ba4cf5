// See commands.hpp.
#include "debugger/commands.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace poe::debugger {

namespace {

using Kind = CommandKind;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_abbreviation(const CommandName& command, std::string_view word) {
    std::istringstream words(command.shortened);
    for (std::string each; words >> each;)
        if (each == word) return true;
    return false;
}

const CommandName* find_command(std::string_view word) {
    const std::vector<CommandName>& all = command_names();
    for (const CommandName& command : all)
        if (command.name == word || is_abbreviation(command, word)) return &command;
    std::vector<const CommandName*> found;
    for (const CommandName& command : all)
        if (std::string_view(command.name).starts_with(word)) found.push_back(&command);
    if (found.empty()) return nullptr;
    // "brea" is break, although breakpoints begins so, too.
    const CommandName* shortest = *std::min_element(
        found.begin(), found.end(), [](const CommandName* a, const CommandName* b) {
            return std::string_view(a->name).size() < std::string_view(b->name).size();
        });
    const bool is_beginning = std::all_of(found.begin(), found.end(), [&](const CommandName* each) {
        return std::string_view(each->name).starts_with(shortest->name);
    });
    return is_beginning ? shortest : nullptr;  // otherwise gdb decides what it means
}

// gdb's "info threads" and "info breakpoints" show the threads of all inferiors and gdb's own
// numbers. They are the commands of pdbx that answer the same question. kGdb: another command.
Kind info_command(std::string_view text) {
    std::string rest(text);
    const std::string info = take_word(rest);
    if (info != "i" && info != "inf" && info != "info") return Kind::kGdb;
    if (rest.size() >= 2 && std::string_view("threads").starts_with(rest)) return Kind::kThread;
    if (!rest.empty() && std::string_view("breakpoints").starts_with(rest))
        return Kind::kBreakpoints;
    return Kind::kGdb;
}

}  // namespace

const std::vector<CommandName>& command_names() {
    static const std::vector<CommandName> kCommands = {
        {"on", "", Kind::kOn, "", "GROUP|TASKS [COMMAND]",
         "make a group current, or execute one command in it"},
        {"group", "", Kind::kGroup, "", "add|delete|change|list [NAME [TASKS]]",
         "define, remove, rename and list groups"},
        {"tasks", "", Kind::kTasks, "", "", "show where each task of the group is"},
        {"break", "b br", Kind::kBreak, "", "[PLACE] [if CONDITION]",
         "stop the group's tasks at a place; $task is the number of the task"},
        {"stop", "", Kind::kStop, "", "at LINE | in FUNCTION | if CONDITION",
         "the same in the words of dbx"},
        {"trace", "", Kind::kTrace, "", "PLACE",
         "report each time that a task reaches a place; the task continues"},
        {"watch", "", Kind::kWatch, "", "EXPRESSION", "stop a task when a value changes"},
        {"catch", "", Kind::kCatch, "",
         "signal [NAME] | call NAME | error [collective|fatal] | exit | deadlock | EVENT OF GDB",
         "stop at signals, calls and errors of MPI and MPL, deadlocks, exceptions"},
        {"delete", "d", Kind::kDelete, "", "[NUMBER...]", "remove breakpoints; without number all"},
        {"breakpoints", "status", Kind::kBreakpoints, "", "", "list the breakpoints"},
        {"continue", "c cont", Kind::kContinue, "", "[&]", "let the group's tasks continue"},
        {"step", "s", Kind::kStep, "", "[COUNT]", "go to the next line, also into functions"},
        {"next", "n", Kind::kNext, "", "[COUNT]", "go to the next line of this function"},
        {"stepi", "si", Kind::kStepInstruction, "", "[COUNT]", "execute one instruction"},
        {"nexti", "ni", Kind::kNextInstruction, "", "[COUNT]", "the same, over calls"},
        {"finish", "fin", Kind::kFinish, "", "", "go to the return of the current function"},
        {"until", "u advance", Kind::kUntil, "", "[PLACE]", "go to a place of this function"},
        {"halt", "interrupt", Kind::kHalt, "", "", "stop the group's running tasks (also Ctrl-C)"},
        {"where", "bt backtrace", Kind::kWhere, "", "[full]",
         "show the stacks as one tree; full: also frames of libraries"},
        {"print", "p inspect", Kind::kPrint, "", "EXPRESSION", "show a value on each task"},
        {"values", "", Kind::kValues, "", "EXPRESSION",
         "show minimum, maximum, mean and outliers of a number"},
        {"assign", "", Kind::kGdb, "set var", "VARIABLE = VALUE", "change a variable"},
        {"dump", "", Kind::kGdb, "info locals", "", "show the local variables"},
        {"list", "l", Kind::kList, "", "[PLACE | -]", "show source lines; again: the next ones"},
        {"whatis", "", Kind::kGdb, "whatis", "EXPRESSION", "show a type"},
        {"up", "", Kind::kUp, "", "[COUNT]",
         "select the caller's frame; from a library the program's"},
        {"down", "", Kind::kDown, "", "[COUNT]", "select the frame of the called function"},
        {"frame", "f", Kind::kFrame, "", "[NUMBER]", "select a frame by its number"},
        {"thread", "", Kind::kThread, "", "[NUMBER]", "show the threads, or select one"},
        {"why", "", Kind::kWhy, "", "", "show what each task waits for"},
        {"messages", "", Kind::kMessages, "", "",
         "show each task's call, its posted receives, and messages without a receive"},
        {"source", "", Kind::kSource, "", "FILE", "execute the commands of a file"},
        {"detach", "", Kind::kDetach, "", "", "let all tasks continue without debugger, and leave"},
        {"quit", "q exit", Kind::kQuit, "", "",
         "end the job and leave; a job that was attached continues"},
        {"help", "h", Kind::kHelp, "", "[COMMAND]", "show this list"},
    };
    return kCommands;
}

std::string take_word(std::string& text) {
    std::string_view rest = trimmed(text);
    std::size_t end = 0;
    while (end < rest.size() && !is_blank(rest[end])) ++end;
    std::string word(rest.substr(0, end));
    text = std::string(trimmed(rest.substr(end)));
    return word;
}

std::optional<CommandLine> parse_command(std::string_view line) {
    std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') return std::nullopt;
    CommandLine command;
    if (text.size() > 1 && text.back() == '&' && text[text.size() - 2] != '&') {
        command.background = true;
        text = trimmed(text.substr(0, text.size() - 1));
    }
    std::size_t end = 0;
    while (end < text.size() && is_word_char(text[end])) ++end;
    const CommandName* found = end > 0 ? find_command(text.substr(0, end)) : nullptr;
    if (found == nullptr) {
        command.kind = info_command(text);
        command.name = std::string(text);
        return command;
    }
    command.kind = found->kind;
    command.name = found->name;
    command.arguments = std::string(trimmed(text.substr(end)));
    if (found->kind == Kind::kGdb) {
        command.name = found->gdb;
        if (!command.arguments.empty()) command.name += " " + command.arguments;
    }
    return command;
}

bool repeats(CommandKind kind) {
    switch (kind) {
        case Kind::kContinue:
        case Kind::kStep:
        case Kind::kNext:
        case Kind::kStepInstruction:
        case Kind::kNextInstruction:
        case Kind::kUp:
        case Kind::kDown:
        case Kind::kUntil:
        case Kind::kFinish:
        case Kind::kList:
            return true;
        default:
            return false;
    }
}

std::string repetition(const std::string& line, const CommandLine& command) {
    if (command.kind == Kind::kOn) {
        std::string rest = command.arguments;
        take_word(rest);
        const auto inner = parse_command(rest);
        return inner && repeats(inner->kind) ? line : "";
    }
    if (command.kind == Kind::kList && command.arguments != "-") return "list";
    return repeats(command.kind) ? line : "";
}

bool takes_nothing(CommandKind kind) {
    switch (kind) {
        case Kind::kTasks:
        case Kind::kBreakpoints:
        case Kind::kContinue:
        case Kind::kFinish:
        case Kind::kHalt:
        case Kind::kWhy:
        case Kind::kMessages:
        case Kind::kDetach:
            return true;
        default:
            return false;
    }
}

std::string without_line_end(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

std::vector<std::string> help_lines(const std::string& command) {
    std::vector<std::string> lines;
    constexpr std::size_t kUsageWidth = 46;
    for (const CommandName& each : command_names()) {
        if (!command.empty() && &each != find_command(command)) continue;
        std::string usage = std::string(each.name) + " " + each.usage;
        if (*each.shortened != '\0') usage += " (" + std::string(each.shortened) + ")";
        if (usage.size() >= kUsageWidth) {
            lines.push_back(usage);
            usage.clear();
        }
        usage.resize(kUsageWidth, ' ');
        lines.push_back(usage + each.help);
    }
    if (command.empty()) {
        lines.emplace_back("Every other command is executed by gdb for each task of the group.");
        lines.emplace_back("An empty line repeats cont, step, next, up and similar commands.");
    }
    return lines;
}

std::string with_task(std::string_view expression, const std::string& replacement) {
    constexpr std::string_view kName = "$task";
    std::string text;
    while (true) {
        const std::size_t at = expression.find(kName);
        if (at == std::string_view::npos) return text.append(expression);
        const std::string_view after = expression.substr(at + kName.size());
        text += expression.substr(0, at);
        const bool is_longer_name =
            !after.empty() && is_word_char(after.front()) && after.front() != '-';
        text += is_longer_name ? std::string(kName) : replacement;
        expression = after;
    }
}

}  // namespace poe::debugger
