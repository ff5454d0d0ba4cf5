// See stack_tree.hpp.
#include "debugger/stack_tree.hpp"

#include <algorithm>
#include <cstdlib>

namespace poe::debugger {

namespace {

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const char* beginning) { return text.starts_with(beginning); });
}

// Entry points of message-passing libraries and the functions of their engine are no part of the
// program, even if they have debug information.
bool is_foreign(const StackFrame& frame) {
    return frame.place.empty() || frame.is_elsewhere ||
           starts_with_any(frame.function, {"MPI_", "PMPI_", "mpi_", "pmpi_", "mpc_", "poe::"});
}

std::string label_of(const StackFrame& frame) {
    std::string label = frame.function.empty() ? "??" : frame.function;
    if (!frame.place.empty()) return label + "  " + frame.place;
    if (!frame.library.empty()) label += "  (" + frame.library + ")";
    return label;
}

void insert(std::vector<StackTree>& trees, TaskId task, const Stack& stack) {
    std::vector<StackTree>* level = &trees;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
        auto place = std::find_if(level->begin(), level->end(),
                                  [&](const StackTree& tree) { return tree.frame == *frame; });
        if (place == level->end()) place = level->insert(place, StackTree{*frame, {}, {}});
        place->tasks.insert(task);
        level = &place->callees;
    }
}

// Returns the callee if the same place of a function has called the function again, in the same
// tasks.
const StackTree* recursion_of(const StackTree& tree) {
    if (tree.callees.size() != 1) return nullptr;
    const StackTree& callee = tree.callees.front();
    return callee.frame == tree.frame && callee.tasks == tree.tasks ? &callee : nullptr;
}

// A recursion of several functions must not move the lines out of the terminal.
constexpr std::size_t kDeepest = 20;

struct Line {
    std::string label;
    std::string tasks;
};

void add_lines(const std::vector<StackTree>& trees, std::size_t depth, const TaskSet* parent,
               std::vector<Line>& lines) {
    for (const StackTree& tree : trees) {
        const StackTree* last = &tree;
        int times = 1;
        while (const StackTree* same = recursion_of(*last)) {
            last = same;
            ++times;
        }
        std::string tasks;
        // A frame with the same tasks as its caller does not repeat them.
        if (parent == nullptr || tree.tasks != *parent) {
            tasks = in_ranges(tree.tasks);
            if (tree.tasks.size() > 1) tasks += " (" + std::to_string(tree.tasks.size()) + ")";
        }
        std::string label = std::string(2 * std::min(depth, kDeepest), ' ') + label_of(tree.frame);
        if (times > 1) label += "  (" + std::to_string(times) + " times)";
        lines.push_back({std::move(label), tasks});
        add_lines(last->callees, depth + 1, &tree.tasks, lines);
    }
}

std::string last_part(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Stack stack_of(const MiValue& results) {
    Stack stack;
    if (const MiValue* frames = results.find("stack"))
        for (const auto& item : frames->items) stack.push_back(frame_of(item.second));
    if (stack.size() > kMostFrames) {
        stack.resize(kMostFrames);
        stack.push_back({"(more callers)", "", "", false});
    }
    return stack;
}

StackFrame frame_of(const MiValue& frame) {
    StackFrame result;
    result.function = frame.text_of("func");
    const std::string& file = frame.text_of("file");
    if (!file.empty()) result.place = last_part(file) + ":" + frame.text_of("line");
    const std::string& full = frame.text_of("fullname");
    result.file = full;
    result.line = std::atoi(frame.text_of("line").c_str());
    result.is_elsewhere = !full.empty() && full.front() != '/';
    if (file.empty()) result.library = last_part(frame.text_of("from"));
    return result;
}

std::size_t innermost_of_program(const Stack& stack) {
    return static_cast<std::size_t>(std::find_if_not(stack.begin(), stack.end(), is_foreign) -
                                    stack.begin());
}

Stack without_library_frames(const Stack& stack) {
    auto first = stack.begin() + static_cast<std::ptrdiff_t>(innermost_of_program(stack));
    if (first == stack.end()) return stack;
    if (first != stack.begin()) --first;  // the function that the program has called
    return {first, stack.end()};
}

std::vector<StackTree> merge(const std::vector<std::pair<TaskId, Stack>>& stacks) {
    std::vector<StackTree> trees;
    for (const auto& [task, stack] : stacks) insert(trees, task, stack);
    return trees;
}

std::vector<std::string> lines_of(const std::vector<StackTree>& trees) {
    std::vector<Line> lines;
    add_lines(trees, 0, nullptr, lines);
    std::size_t width = 0;
    for (const Line& line : lines) width = std::max(width, line.tasks.size());
    std::vector<std::string> texts;
    for (const Line& line : lines) {
        std::string text = line.tasks;
        text.resize(width + 2, ' ');
        texts.push_back(text + line.label);
    }
    return texts;
}

}  // namespace poe::debugger
