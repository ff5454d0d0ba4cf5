// See completions.hpp.
#include "poe/completions.hpp"

#include <map>
#include <vector>

#include "poe/option_table.hpp"
#include "poe/option_words.hpp"

namespace poe::cli {
namespace {

struct JobFlag {
    const char* name;
    const char* help;
};
struct JobCommand {
    const char* name;
    std::vector<JobFlag> flags;
};

const std::vector<JobCommand>& job_commands() {
    static const std::vector<JobCommand> commands{
        {"poestat",
         {{"-deadlock", "look for tasks that wait for each other"},
          {"-a", "jobs of all users"},
          {"-json", "as JSON"},
          {"-w", "again every two seconds"},
          {"-h", "help"},
          {"-version", "the version"}}},
        {"poekill",
         {{"-n", "only list the jobs"},
          {"-y", "do not ask"},
          {"-h", "help"},
          {"--version", "the version"}}},
        {"pmarray",
         {{"-filter", "only some tasks"},
          {"-sort", "by state, cpu, ..."},
          {"-once", "a table as it is now"},
          {"-lines", "a line for each change"},
          {"-json", "as JSON"},
          {"-h", "help"},
          {"-version", "the version"}}}};
    return commands;
}

// Returns the names of a flag with their dashes, as in flag_synopsis().
std::vector<std::string> names_of(const OptionRow& row) {
    std::vector<std::string> names;
    for (std::string_view list : {row.names, row.early_names})
        for (auto word = next_word(list); !word.empty(); word = next_word(list))
            names.push_back((row.kind == ValueKind::kNothing && word.size() > 1 ? "--" : "-") +
                            std::string(word));
    return names;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

std::string without_apostrophes(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
}

bool takes_file(const OptionRow& row) {
    return row.kind == ValueKind::kFile || row.unit == "directory";
}

constexpr const char* kJobNames = "poestat 2>/dev/null | awk 'NR > 1 { print $1 }'";

}  // namespace

std::string bash_completions() {
    // "yes no": the flags with these values.
    std::map<std::string, std::vector<std::string>> by_values;
    std::vector<std::string> files;
    std::vector<std::string> others;
    std::vector<std::string> all;
    for (const OptionRow& row : option_table()) {
        for (const std::string& name : names_of(row)) {
            all.push_back(name);
            if (row.kind == ValueKind::kNothing) continue;
            if (!row.choices.empty())
                by_values[std::string(row.choices)].push_back(name);
            else if (takes_file(row))
                files.push_back(name);
            else
                others.push_back(name);
        }
    }
    std::string values;
    std::vector<std::string> with_value = files;
    with_value.insert(with_value.end(), others.begin(), others.end());
    for (const auto& [words, flags] : by_values) {
        values += "    " + joined(flags, " | ") + ")\n        COMPREPLY=($(compgen -W \"" + words +
                  "\" -- \"$cur\"))\n        return ;;\n";
        with_value.insert(with_value.end(), flags.begin(), flags.end());
    }
    std::string text =
        "# Completions of poe and its companions for bash. Made from poe's option table.\n"
        "_poe_jobs() {\n    " +
        std::string(kJobNames) +
        "\n}\n\n"
        "# Whether the words before the cursor name a program already.\n"
        "_poe_has_program() {\n"
        "    local i=1\n"
        "    while [ $i -lt \"$COMP_CWORD\" ]; do\n"
        "        case ${COMP_WORDS[i]} in\n"
        "        " +
        joined(with_value, " | ") +
        ") i=$((i + 1)) ;;\n"
        "        --) return 1 ;;\n"
        "        -*) ;;\n"
        "        *) return 0 ;;\n"
        "        esac\n"
        "        i=$((i + 1))\n"
        "    done\n"
        "    return 1\n"
        "}\n\n"
        "_poe() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    COMPREPLY=()\n"
        "    case $prev in\n" +
        values + "    " + joined(files, " | ") +
        ")\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n        return ;;\n"
        "    " +
        joined(others, " | ") +
        ")\n        return ;;\n"
        "    esac\n"
        "    if [[ $cur == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"" +
        joined(all, " ") +
        "\" -- \"$cur\"))\n"
        "    elif _poe_has_program; then\n"
        "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _poe poe\n";
    for (const JobCommand& command : job_commands()) {
        std::vector<std::string> flags;
        for (const JobFlag& flag : command.flags) flags.emplace_back(flag.name);
        const std::string name = command.name;
        text += "\n_" + name +
                "() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} words\n"
                "    if [[ $cur == -* ]]; then words=\"" +
                joined(flags, " ") + "\"; else words=\"$(_poe_jobs)" +
                (name == "poekill" ? " all" : "") +
                "\"; fi\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                "}\n"
                "complete -F _" +
                name + " " + name + "\n";
    }
    return text;
}

std::string zsh_completions() {
    std::string commands = "poe";
    std::string cases;
    for (const JobCommand& command : job_commands()) {
        commands += std::string(" ") + command.name;
        cases += std::string(command.name) + ")\n    _arguments \\\n";
        for (const JobFlag& flag : command.flags)
            cases += std::string("        '") + flag.name + "[" + without_apostrophes(flag.help) +
                     "]' \\\n";
        cases += "        '*:job:_poe_jobs'\n    ;;\n";
    }
    // In a zsh specification a colon or a bracket would end the text.
    const auto plain = [](std::string_view help) {
        std::string out;
        for (const char c : help) {
            if (c == ':' || c == '[' || c == ']') out += '\\';
            out += c;
        }
        return without_apostrophes(out);
    };
    std::string text = "#compdef " + commands +
                       "\n# Completions of poe and its companions for zsh. Made from poe's option "
                       "table.\n"
                       "_poe_jobs() {\n"
                       "    local -a jobs\n"
                       "    jobs=(${(f)\"$(" +
                       std::string(kJobNames) +
                       ")\"})\n"
                       "    [[ $service == poekill ]] && jobs+=(all)\n"
                       "    compadd -a jobs\n"
                       "}\n\ncase $service in\npoe)\n    _arguments \\\n";
    for (const OptionRow& row : option_table())
        for (const std::string& name : names_of(row)) {
            text += "        '*" + name + "[" + plain(row.help) + "]";
            if (row.kind != ValueKind::kNothing) {
                text += ":" + plain(row.unit.empty() ? "value" : row.unit) + ":";
                if (!row.choices.empty())
                    text += "(" + std::string(row.choices) + ")";
                else if (takes_file(row))
                    text += row.unit == "directory" ? "_files -/" : "_files";
                else
                    text += " ";
            }
            text += "' \\\n";
        }
    text +=
        "        '1:program:{_command_names -e; _files -g \"*(-*)\"}' \\\n"
        "        '*:argument:_files'\n    ;;\n" +
        cases + "esac\n";
    return text;
}

std::string fish_completions_of_poe() {
    std::string text =
        "# Completions of poe for fish. Made from poe's option table.\n"
        "complete -c poe -n __fish_is_first_token -a '(__fish_complete_command)'\n";
    for (const OptionRow& row : option_table())
        for (const std::string& name : names_of(row)) {
            const bool two_dashes = name.starts_with("--");
            text += std::string("complete -c poe ") +
                    (two_dashes         ? "-l "
                     : name.size() == 2 ? "-s "
                                        : "-o ") +
                    name.substr(two_dashes ? 2 : 1) + " -d '" + without_apostrophes(row.help) + "'";
            if (!row.choices.empty())
                text += " -x -a '" + std::string(row.choices) + "'";
            else if (takes_file(row))
                text += " -r -F";
            else if (row.kind != ValueKind::kNothing)
                text += " -x";
            text += "\n";
        }
    return text;
}

std::string fish_completions_of_jobs(const std::string& name) {
    std::string text = "# Completions of " + name + " for fish.\ncomplete -c " + name +
                       " -f -a '(" + without_apostrophes(kJobNames) + ")'\n";
    if (name == "poekill") text += "complete -c poekill -f -a all\n";
    for (const JobCommand& command : job_commands())
        for (const JobFlag& flag : command.flags) {
            if (command.name != name) continue;
            const std::string word = flag.name;
            const bool two_dashes = word.starts_with("--");
            text += "complete -c " + name +
                    (two_dashes         ? " -l "
                     : word.size() == 2 ? " -s "
                                        : " -o ") +
                    word.substr(two_dashes ? 2 : 1) + " -d '" + without_apostrophes(flag.help) +
                    "'\n";
        }
    return text;
}

}  // namespace poe::cli
