// Tasks that start more tasks, as CBOR; see message_values.hpp.
#include "partition_manager/message_values.hpp"

namespace poe::pm::wire {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Json pack_pairs(const Pairs& pairs) {
    Json json = Json::array();
    for (const auto& [key, value] : pairs) json.push_back(Json::array({bytes(key), bytes(value)}));
    return json;
}

Pairs unpack_pairs(const Json& json) {
    Pairs pairs;
    for (const Json& pair : items(json)) pairs.emplace_back(text(pair.at(0)), text(pair.at(1)));
    return pairs;
}

}  // namespace

Json pack(const CommandPlace& place) {
    return Json::array({byte_list(place.environment), bytes(place.directory), bytes(place.path)});
}

CommandPlace unpack_place(const Json& json) {
    return {text_list(json.at(0)), text(json.at(1)), text(json.at(2))};
}

Json pack(const Asker& asker) {
    return Json::array({bytes(asker.job), asker.node, asker.request});
}

Asker unpack_asker(const Json& json) {
    return {text(json.at(0)), number<NodeIndex>(json.at(1)), number<std::uint32_t>(json.at(2))};
}

Json pack(const JobOutline& outline) {
    return Json::array({bytes(outline.id), byte_list(outline.nodes), Json(outline.node_of_task),
                        Json(outline.appnum_of_task)});
}

JobOutline unpack_outline(const Json& json) {
    JobOutline outline;
    outline.id = text(json.at(0));
    outline.nodes = text_list(json.at(1));
    for (const Json& node : items(json.at(2))) {
        outline.node_of_task.push_back(number<NodeIndex>(node));
        if (outline.node_of_task.back() < 0 ||
            static_cast<std::size_t>(outline.node_of_task.back()) >= outline.nodes.size())
            throw std::out_of_range("node");
    }
    for (const Json& app : items(json.at(3)))
        outline.appnum_of_task.push_back(number<std::uint32_t>(app));
    return outline;
}

Json pack(const SpawnSpec& spawn) {
    Json others = Json::array();
    for (const JobOutline& other : spawn.others) others.push_back(pack(other));
    return Json::array({bytes(spawn.parent), spawn.parent_task, spawn.first,
                        pack_pairs(spawn.pairs), std::move(others)});
}

SpawnSpec unpack_spawn(const Json& json) {
    SpawnSpec spawn;
    spawn.parent = text(json.at(0));
    spawn.parent_task = number<TaskId>(json.at(1));
    spawn.first = number<TaskId>(json.at(2));
    spawn.pairs = unpack_pairs(json.at(3));
    for (const Json& other : items(json.at(4))) spawn.others.push_back(unpack_outline(other));
    return spawn;
}

Json pack(const SpawnTasks& ask) {
    Json commands = Json::array();
    for (const SpawnCommand& command : ask.commands)
        commands.push_back(Json::array({byte_list(command.words), command.tasks,
                                        byte_list(command.hosts), pack(command.place)}));
    return Json::array({pack(ask.asker), ask.task, std::move(commands), pack_pairs(ask.pairs)});
}

SpawnTasks unpack_spawn_tasks(const Json& json) {
    SpawnTasks ask;
    ask.asker = unpack_asker(json.at(0));
    ask.task = number<TaskId>(json.at(1));
    for (const Json& item : items(json.at(2)))
        ask.commands.push_back({text_list(item.at(0)), number<std::uint32_t>(item.at(1)),
                                text_list(item.at(2)), unpack_place(item.at(3))});
    ask.pairs = unpack_pairs(json.at(3));
    return ask;
}

}  // namespace poe::pm::wire
