// See pools.hpp.
#include "partition_manager/job/pools.hpp"

#include "base/suggest.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/host_file.hpp"
#include "partition_manager/job/text_file.hpp"

namespace poe::pm {

namespace {

UserError error_at(const Pools& pools, int line, std::string text, std::string expected) {
    UserError error;
    error.source = pools.path;
    error.line = line;
    error.column = 1;
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

}  // namespace

Result<Pools> parse_pools(std::string_view text, const std::string& path) {
    Pools pools{path, {}};
    TextLines lines(text);
    while (const auto line = lines.next()) {
        if (is_blank_or_comment(*line)) continue;
        auto words = split_command(*line, path, lines.line());
        if (!words) return words.error();
        const std::string& name = words.value().front();
        if (words.value().size() < 2)
            return error_at(pools, lines.line(), "pool " + in_quotes(name) + " has no nodes",
                            "expected a pool's name, and then the names of its nodes");
        std::vector<std::string>& nodes = pools.nodes[name];
        for (std::size_t i = 1; i < words.value().size(); ++i) {
            // The same names as in a host file are allowed.
            const auto node = parse_host_file(words.value()[i], path);
            if (!node || node.value().lines.size() != 1 || node.value().lines[0].is_pool)
                return error_at(pools, lines.line(),
                                in_quotes(words.value()[i]) + " cannot be the name of a node",
                                "expected the names of nodes after the pool's");
            nodes.push_back(words.value()[i]);
        }
    }
    return pools;
}

Result<Pools> load_pools(const std::string& path) {
    const auto text = read_text_file(path, "pools file");
    if (!text) return text.error();
    return parse_pools(text.value(), path);
}

}  // namespace poe::pm
