// The answers of several gdbs to one command; see session.hpp.
#include <algorithm>
#include <utility>

#include "debugger/session.hpp"

namespace poe::debugger {

namespace {

// gdb has left a function of the program that it had called, or has given up a command of its own.
bool was_interrupted(const GdbAnswer& answer) {
    return !answer.ok && (answer.error == "Quit" ||
                          answer.error.find("in a function called from GDB") != std::string::npos);
}

// gdb names the limit only.
std::string with_advice(const std::string& error) {
    const bool is_large = error.find("more than max-value-size") != std::string::npos;
    return is_large ? error + "; print a part of the value, such as NAME[0]@100" : error;
}

}  // namespace

Session::OperationPtr Session::operation(std::function<void(Operation&)> finish) {
    operation_ = std::make_shared<Operation>();
    operation_->outstanding = 1;  // until seal()
    operation_->finish = std::move(finish);
    return operation_;
}

void Session::finish_one(const OperationPtr& operation) {
    if (--operation->outstanding > 0) return;
    if (operation_ == operation) operation_.reset();
    const auto by_task = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(operation->answers.begin(), operation->answers.end(), by_task);
    std::sort(operation->errors.begin(), operation->errors.end(), by_task);
    std::sort(operation->stacks.begin(), operation->stacks.end(), by_task);
    operation->finish(*operation);
}

void Session::seal(const OperationPtr& operation) {
    finish_one(operation);
}

void Session::send_command(const OperationPtr& operation, TaskId task, const std::string& command) {
    ++operation->outstanding;
    operation->executing.insert(task);
    gdb_of(task)->console(*find(task), command, [this, operation, task](const GdbAnswer& answer) {
        operation->executing.erase(task);
        if (operation->interrupted && was_interrupted(answer)) {
            interrupt_again();
            return add_error(operation, task, "interrupted");
        }
        add_answer(operation, task, answer, without_line_end(answer.console));
    });
}

// A gdb executes a command for one task after the other, and the user has interrupted it for all of
// them. A signal that arrives between two tasks has no effect, so it is repeated until all have
// answered.
void Session::interrupt_again() {
    interrupt_due_.reset();
    std::erase_if(interrupted_, [](const OperationPtr& each) { return each->executing.empty(); });
    for (std::size_t node = 0; node < gdbs_.by_node.size() && !interrupted_.empty(); ++node) {
        const int pid = gdbs_.by_node[node] ? gdbs_.by_node[node]->executing_for() : 0;
        const auto executes = [&](TaskId task) {
            return gdb_of(task) == gdbs_.by_node[node].get() && find(task)->pid == pid;
        };
        const bool concerns =
            pid != 0 &&
            std::any_of(interrupted_.begin(), interrupted_.end(), [&](const OperationPtr& each) {
                return std::any_of(each->executing.begin(), each->executing.end(), executes);
            });
        if (concerns) handlers_.send(pm::InterruptCommand{pid}, static_cast<NodeIndex>(node));
    }
    if (!interrupted_.empty()) interrupt_due_ = now_ + kInterruptAgain;
}

void Session::add_answer(const OperationPtr& operation, TaskId task, const GdbAnswer& answer,
                         const std::string& text) {
    if (answer.ok)
        operation->answers.emplace_back(task, text);
    else if (answer.error == "value has been optimized out")  // of a part of a variable
        operation->answers.emplace_back(task, "<optimized out>");
    else
        operation->errors.emplace_back(task, with_advice(answer.error));
    finish_one(operation);
}

void Session::add_error(const OperationPtr& operation, TaskId task, const std::string& error) {
    operation->errors.emplace_back(task, error);
    finish_one(operation);
}

// The answers of the tasks, then their errors.
void Session::show_answers(Operation& operation) {
    Report report;
    report.command = typed_.line;
    report.answers = fold(operation.answers);
    if (!operation.answers.empty() || operation.errors.empty()) show(report);
    if (operation.errors.empty()) return;
    Report errors;
    errors.kind = Report::Kind::kError;
    errors.command = typed_.line;
    errors.answers = fold(operation.errors);
    show(std::move(errors));
}

}  // namespace poe::debugger
