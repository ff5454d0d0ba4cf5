// See groups.hpp.
#include "debugger/groups.hpp"

#include <algorithm>
#include <cctype>

namespace poe::debugger {

void Groups::predefine(const std::string& name, Members members) {
    predefined_.emplace_back(name, std::move(members));
}

UserError Groups::unknown(std::string_view name) const {
    UserError error;
    error.text = "there is no group \"" + std::string(name) + "\"";
    error.expected = "the groups are:";
    for (const std::string& each : names())
        error.expected += (error.expected.back() == ':' ? " " : ", ") + each;
    return error;
}

bool Groups::check_name(const std::string& name, UserError& error) const {
    const bool is_word =
        !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
        std::all_of(name.begin(), name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
        });
    if (!is_word) {
        error.text = "\"" + name + "\" cannot be the name of a group";
        error.expected = "a name begins with a letter and has letters, digits, - and _";
        return false;
    }
    const auto taken = std::find_if(predefined_.begin(), predefined_.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (taken == predefined_.end()) return true;
    error.text = "the group \"" + name + "\" is predefined and follows the state of the job";
    error.expected = "choose another name";
    return false;
}

Result<TaskSet> Groups::find(std::string_view text) const {
    if (is_task_list(text)) return parse_tasks(text, tasks_);
    for (const auto& [name, members] : predefined_)
        if (name == text) return members();
    if (const auto found = own_.find(std::string(text)); found != own_.end()) return found->second;
    if (const auto found = waiting_.find(std::string(text)); found != waiting_.end())
        return found->second;
    return unknown(text);
}

Result<TaskSet> Groups::add(const std::string& name, const TaskSet& tasks) {
    UserError error;
    if (!check_name(name, error)) return error;
    TaskSet& group = own_[name];
    group.insert(tasks.begin(), tasks.end());
    return group;
}

Result<TaskSet> Groups::remove(const std::string& name, const TaskSet* tasks) {
    UserError error;
    if (!check_name(name, error)) return error;
    const auto found = own_.find(name);
    if (found == own_.end()) return unknown(name);
    TaskSet rest = tasks != nullptr ? difference(found->second, *tasks) : TaskSet();
    if (rest.empty())
        own_.erase(found);
    else
        found->second = rest;
    return rest;
}

Result<TaskSet> Groups::rename(const std::string& from, const std::string& to) {
    UserError error;
    if (!check_name(from, error) || !check_name(to, error)) return error;
    if (!own_.contains(from)) return unknown(from);
    if (own_.contains(to)) {
        error.text = "there is a group \"" + to + "\" already";
        return error;
    }
    auto node = own_.extract(from);
    node.key() = to;
    return own_.insert(std::move(node)).position->second;
}

std::vector<Groups::Group> Groups::list() const {
    std::vector<Group> all;
    for (const auto& [name, members] : predefined_) all.push_back({name, members(), true});
    for (const auto& [name, tasks] : waiting_)
        if (!own_.contains(name)) all.push_back({name, tasks, true});
    for (const auto& [name, tasks] : own_) all.push_back({name, tasks, false});
    return all;
}

std::vector<std::string> Groups::names() const {
    std::vector<std::string> all;
    for (const auto& each : predefined_) all.push_back(each.first);
    for (const auto& each : own_) all.push_back(each.first);
    for (const auto& each : waiting_)
        if (!own_.contains(each.first)) all.push_back(each.first);
    return all;
}

}  // namespace poe::debugger
