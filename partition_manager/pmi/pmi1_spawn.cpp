// See pmi1_spawn.hpp.
#include "partition_manager/pmi/pmi1_spawn.hpp"

#include <map>
#include <optional>
#include <string_view>

#include "base/parse.hpp"
#include "partition_manager/job/comma_list.hpp"

namespace poe::pm {

namespace {

class Lines {
  public:
    explicit Lines(const std::vector<std::pair<std::string, std::string>>& lines) {
        for (const auto& [key, value] : lines) values_.emplace(key, value);
    }

    const std::string* find(const std::string& key) const {
        const auto at = values_.find(key);
        return at == values_.end() ? nullptr : &at->second;
    }

    // Returns `otherwise` if the key is absent; nothing if the value is no number or out of bounds.
    std::optional<long> count(const std::string& key, long otherwise) const {
        const std::string* text = find(key);
        if (text == nullptr) return otherwise;
        const auto value = parse_number<long>(*text);
        return value && *value >= 0 && *value <= kMostPmi1Items ? value : std::nullopt;
    }

  private:
    std::map<std::string, std::string> values_;
};

void add_info(const std::string& key, const std::string& value, Pmi1Spawn& spawn) {
    if (key == "host") spawn.command.hosts = split_at_commas(value);
    if (key == "wdir") spawn.command.place.directory = value;
    if (key == "path") spawn.command.place.path = value;
    if (key == "soft")
        spawn.trouble =
            "has the info key soft, which poe does not know: it starts "
            "maxprocs tasks or none";
}

}  // namespace

Pmi1Spawn parse_pmi1_spawn(const std::vector<std::pair<std::string, std::string>>& lines) {
    const Lines said(lines);
    Pmi1Spawn spawn;
    const auto tasks = said.count("nprocs", 0);
    const auto number = said.count("spawnssofar", 1);
    const auto total = said.count("totspawns", 1);
    const auto arguments = said.count("argcnt", 0);
    const auto pairs = said.count("preput_num", 0);
    const auto infos = said.count("info_num", 0);
    const std::string* program = said.find("execname");
    if (!tasks || !number || !total || !arguments || !pairs || !infos) {
        spawn.trouble = "counts what is no number up to " + std::to_string(kMostPmi1Items);
        return spawn;
    }
    spawn.number = *number;
    spawn.is_own = said.find("poe_own") != nullptr;
    spawn.total = *total;
    if (*tasks == 0 || program == nullptr || program->empty()) {
        spawn.trouble = "names no program or no number of tasks";
        return spawn;
    }
    spawn.command.tasks = static_cast<std::uint32_t>(*tasks);
    spawn.command.words.push_back(*program);
    for (long i = 1; i <= *arguments; ++i) {
        const std::string* argument = said.find("arg" + std::to_string(i));
        spawn.command.words.push_back(argument != nullptr ? *argument : std::string());
    }
    const auto each = [&said](const std::string& kind, const std::string& value_kind, long count,
                              const auto& take) {
        for (long i = 0; i < count; ++i) {
            const std::string* key = said.find(kind + std::to_string(i));
            const std::string* value = said.find(value_kind + std::to_string(i));
            if (key != nullptr && value != nullptr) take(*key, *value);
        }
    };
    each("preput_key_", "preput_val_", *pairs,
         [&](const std::string& key, const std::string& value) {
             spawn.pairs.emplace_back(key, value);
         });
    each("info_key_", "info_val_", *infos,
         [&](const std::string& key, const std::string& value) { add_info(key, value, spawn); });
    return spawn;
}

}  // namespace poe::pm
