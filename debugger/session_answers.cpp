// The answers of several gdbs to one command; see session.hpp.
#include <algorithm>
#include <utility>

#include "debugger/session.hpp"

namespace poe::debugger {

Session::OperationPtr Session::operation(std::function<void(Operation&)> finish) {
    operation_ = std::make_shared<Operation>();
    interrupted_ = false;
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

void Session::add_answer(const OperationPtr& operation, TaskId task, const GdbAnswer& answer,
                         const std::string& text) {
    if (answer.ok)
        operation->answers.emplace_back(task, text);
    else
        operation->errors.emplace_back(task, answer.error);
    finish_one(operation);
}

void Session::add_error(const OperationPtr& operation, TaskId task, const std::string& error) {
    operation->errors.emplace_back(task, error);
    finish_one(operation);
}

// The answers of the tasks, then their errors.
void Session::show_answers(Operation& operation) {
    Report report;
    report.command = line_;
    report.answers = fold(operation.answers);
    if (!operation.answers.empty() || operation.errors.empty()) show(report);
    if (operation.errors.empty()) return;
    Report errors;
    errors.kind = Report::Kind::kError;
    errors.command = line_;
    errors.answers = fold(operation.errors);
    show(std::move(errors));
}

}  // namespace poe::debugger
