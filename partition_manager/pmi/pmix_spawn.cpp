// See pmix_spawn.hpp.
#include "partition_manager/pmi/pmix_spawn.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <pmix.h>

#include "base/error.hpp"
#include "partition_manager/channel/message_codec.hpp"
#include "partition_manager/job/comma_list.hpp"

namespace poe::pm {

namespace {

std::vector<std::string> list_of(char** strings) {
    std::vector<std::string> list;
    for (; strings != nullptr && *strings != nullptr; ++strings) list.emplace_back(*strings);
    return list;
}

std::string text_of(const pmix_info_t& info) {
    if (info.value.type != PMIX_STRING || info.value.data.string == nullptr) return "";
    return info.value.data.string;
}

// Refuses hosts outside the job.
void refuse_places(const pmix_info_t& info) {
    for (const char* key : {PMIX_HOSTFILE, PMIX_ADD_HOST, PMIX_ADD_HOSTFILE})
        if (PMIX_CHECK_KEY(&info, key))
            throw Error("has " + std::string(key) +
                        ", but poe starts tasks on the nodes of the job only (info key host)");
}

void take(const pmix_info_t& info, SpawnCommand& command) {
    refuse_places(info);
    if (PMIX_CHECK_KEY(&info, PMIX_HOST)) command.hosts = split_at_commas(text_of(info));
    if (PMIX_CHECK_KEY(&info, PMIX_WDIR)) command.place.directory = text_of(info);
}

}  // namespace

SpawnTasks pmix_spawn_request(const pmix_proc_t& by, const pmix_info_t* job, std::size_t count,
                              const pmix_app_t* apps, std::size_t app_count) {
    SpawnTasks ask;
    ask.task = static_cast<TaskId>(by.rank);
    SpawnCommand common;
    for (std::size_t i = 0; i < count; ++i) take(job[i], common);
    for (std::size_t i = 0; i < app_count; ++i) {
        const pmix_app_t& app = apps[i];
        SpawnCommand command = common;
        command.words = list_of(app.argv);
        if (app.cmd != nullptr && command.words.empty()) command.words.emplace_back(app.cmd);
        if (app.cmd != nullptr) command.words.front() = app.cmd;
        if (app.maxprocs <= 0 || command.words.empty() || command.words.front().empty())
            throw Error("names no program or no number of tasks");
        command.tasks = static_cast<std::uint32_t>(app.maxprocs);
        command.place.environment = list_of(app.env);
        if (app.cwd != nullptr) command.place.directory = app.cwd;
        for (std::size_t item = 0; item < app.ninfo; ++item) take(app.info[item], command);
        ask.commands.push_back(std::move(command));
    }
    if (ask.commands.empty()) throw Error("names no program");
    if (encode(ask).size() > kMostPmixSpawnBytes) throw Error("is too long");
    return ask;
}

}  // namespace poe::pm
