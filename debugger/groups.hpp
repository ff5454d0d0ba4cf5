// Groups: names for sets of tasks. Users define groups; predefined groups (all, running, stopped,
// failed) follow the state of the job. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "debugger/task_set.hpp"

namespace poe::debugger {

class Groups {
  public:
    // Returns the present members of a predefined group.
    using Members = std::function<TaskSet()>;

    explicit Groups(TaskId tasks) : tasks_(tasks) {}

    void predefine(const std::string& name, Members members);

    // Replaces the groups that `why` makes: tasks that wait in the same call. Own groups hide them.
    void set_waiting(std::map<std::string, TaskSet> groups) { waiting_ = std::move(groups); }

    // Returns the tasks of a group, or of a list of tasks. Error: there is no such group or task.
    Result<TaskSet> find(std::string_view text) const;
    // Creates the group, or adds tasks to it. Error: the name is predefined, or is no name.
    Result<TaskSet> add(const std::string& name, const TaskSet& tasks);
    // Removes the group, or only these tasks from it. Error: there is no such group.
    Result<TaskSet> remove(const std::string& name, const TaskSet* tasks);
    // Error: there is no group `from`, or `to` cannot be a name or exists.
    Result<TaskSet> rename(const std::string& from, const std::string& to);

    struct Group {
        std::string name;
        TaskSet tasks;
        bool predefined = false;
    };
    // All groups, the predefined ones first.
    std::vector<Group> list() const;
    std::vector<std::string> names() const;
    TaskId tasks() const { return tasks_; }

  private:
    UserError unknown(std::string_view name) const;
    bool check_name(const std::string& name, UserError& error) const;

    TaskId tasks_;
    std::vector<std::pair<std::string, Members>> predefined_;  // in the order of their definition
    std::map<std::string, TaskSet> own_;
    std::map<std::string, TaskSet> waiting_;
};

}  // namespace poe::debugger
