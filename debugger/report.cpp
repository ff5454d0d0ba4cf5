// See report.hpp.
#include "debugger/report.hpp"

#include <nlohmann/json.hpp>

namespace poe::debugger {

namespace {

using Json = nlohmann::json;

const char* name_of(Report::Kind kind) {
    switch (kind) {
        case Report::Kind::kAnswer:
            return "answer";
        case Report::Kind::kStop:
            return "stop";
        case Report::Kind::kEnd:
            return "end";
        case Report::Kind::kError:
            return "error";
        case Report::Kind::kNotice:
            return "notice";
        case Report::Kind::kDeadlock:
            return "deadlock";
        case Report::Kind::kOutput:
            return "output";
    }
    return "";
}

}  // namespace

std::vector<std::string> lines_of(const Report& report) {
    std::vector<std::string> lines;
    if (!report.error.empty()) lines.push_back("error: " + report.error);
    for (std::string& line : lines_of(report.answers)) lines.push_back(std::move(line));
    lines.insert(lines.end(), report.lines.begin(), report.lines.end());
    return lines;
}

std::string json_of(const Report& report) {
    Json json{{"kind", name_of(report.kind)}};
    if (!report.command.empty())
        json[report.kind == Report::Kind::kOutput ? "stream" : "command"] = report.command;
    if (!report.error.empty()) json["error"] = report.error;
    if (!report.lines.empty()) json["lines"] = report.lines;
    if (!report.answers.empty()) {
        Json& answers = json["answers"] = Json::array();
        for (const Folded& answer : report.answers)
            answers.push_back({{"tasks", answer.tasks}, {"text", answer.text}});
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace poe::debugger
