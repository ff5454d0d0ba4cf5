// See name_table.hpp.
#include "partition_manager/status/name_table.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace poe::pm {

namespace {

std::size_t bytes_of(const NamedValue& value) {
    return value.name.size() + value.value.size() + value.by.size();
}

}  // namespace

std::vector<NameReply> NameTable::ask(NameRequest question) {
    std::vector<NameReply> answers;
    if (question.what == NameRequest::What::kLookUp) {
        if (!question.waits || all_there(question))
            answers.push_back(look_up(question));
        else if (waiting_.size() == kMostWaiting)
            answers.push_back({question.asker, NameReply::Status::kTooMany, {}});
        else
            waiting_.push_back(std::move(question));
        return answers;
    }
    const ReplyTo asker = question.asker;
    const NameReply::Status status =
        question.what == NameRequest::What::kPublish ? publish(question) : withdraw(question);
    answers.push_back({asker, status, {}});
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        if (!all_there(*at)) {
            ++at;
            continue;
        }
        answers.push_back(look_up(*at));
        at = waiting_.erase(at);
    }
    return answers;
}

NameReply::Status NameTable::publish(NameRequest& question) {
    std::set<std::string_view> names;
    std::size_t bytes = bytes_;
    for (NamedValue& value : question.names) {
        value.by = question.by;
        bytes += bytes_of(value);
        if (entries_.contains(value.name) || !names.insert(value.name).second)
            return NameReply::Status::kTaken;
    }
    if (entries_.size() + names.size() > kMostNames || bytes > kMostBytes)
        return NameReply::Status::kTooMany;
    bytes_ = bytes;
    for (NamedValue& value : question.names) {
        std::string name = value.name;
        entries_.emplace(std::move(name), Entry{std::move(value), question.once});
    }
    return NameReply::Status::kDone;
}

NameReply::Status NameTable::withdraw(const NameRequest& question) {
    if (question.names.empty()) {
        for (auto at = entries_.begin(); at != entries_.end();)
            if (const auto one = at++; one->second.value.by == question.by) forget(one);
        return NameReply::Status::kDone;
    }
    bool any = false;
    for (const NamedValue& value : question.names) {
        const auto at = entries_.find(value.name);
        if (at == entries_.end()) continue;
        forget(at);
        any = true;
    }
    return any ? NameReply::Status::kDone : NameReply::Status::kUnknown;
}

bool NameTable::all_there(const NameRequest& question) const {
    return std::all_of(question.names.begin(), question.names.end(),
                       [this](const NamedValue& value) { return entries_.contains(value.name); });
}

NameReply NameTable::look_up(const NameRequest& question) {
    NameReply answer{question.asker, NameReply::Status::kUnknown, {}};
    for (const NamedValue& wanted : question.names) {
        const auto at = entries_.find(wanted.name);
        if (at == entries_.end()) continue;
        answer.names.push_back(at->second.value);
        if (at->second.once) forget(at);
    }
    if (!answer.names.empty())
        answer.status = answer.names.size() == question.names.size() ? NameReply::Status::kDone
                                                                     : NameReply::Status::kSome;
    return answer;
}

void NameTable::forget(std::map<std::string, Entry>::iterator at) {
    bytes_ -= bytes_of(at->second.value);
    entries_.erase(at);
}

}  // namespace poe::pm
