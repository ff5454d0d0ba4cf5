// The parser of host files: line by line and word by word, each with its column.
#include "partition_manager/job/host_file.hpp"

#include <algorithm>
#include <iterator>

#include "base/suggest.hpp"
#include "partition_manager/job/text_file.hpp"

namespace poe::pm {
namespace {

constexpr std::size_t kLongestLine = 1024;
constexpr std::size_t kLongestName = 255;  // the limit of the domain name system

struct Word {
    std::string_view text;
    int column = 0;  // from 1
};

std::vector<Word> words_of(std::string_view line) {
    std::vector<Word> words;
    std::size_t i = 0;
    while (i < line.size()) {
        const std::size_t begin = i;
        while (i < line.size() && !is_blank(line[i])) ++i;
        if (i > begin)
            words.push_back({line.substr(begin, i - begin), static_cast<int>(begin) + 1});
        while (i < line.size() && is_blank(line[i])) ++i;
    }
    return words;
}

// Characters of host names, addresses and pool names. ASCII only, in any locale.
bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
}

class HostFileParser {
  public:
    HostFileParser(std::string_view text, const std::string& path) : lines_(text) {
        file_.path = path;
    }

    Result<HostFile> run() {
        while (const auto line = lines_.next())
            if (auto error = read_line(*line)) return *error;
        return std::move(file_);
    }

  private:
    using MaybeError = std::optional<UserError>;

    UserError error_at(std::size_t column, std::string text, std::string expected) const {
        UserError error;
        error.source = file_.path;
        error.line = lines_.line();
        error.column = static_cast<int>(column);
        error.text = std::move(text);
        error.expected = std::move(expected);
        return error;
    }

    MaybeError read_line(std::string_view line) {
        if (const std::size_t nul = line.find('\0'); nul != std::string_view::npos)
            return error_at(nul + 1, "a NUL byte", "expected a text file");
        const std::vector<Word> words = words_of(line);
        if (words.empty() || words[0].text[0] == '!' || words[0].text[0] == '*')
            return std::nullopt;
        if (line.size() > kLongestLine)
            return error_at(kLongestLine + 1,
                            "the line is " + std::to_string(line.size()) + " bytes long",
                            "expected at most " + std::to_string(kLongestLine));
        HostLine entry;
        entry.line = lines_.line();
        if (auto error = read_name(words[0], entry)) return error;
        for (std::size_t i = 1; i < words.size(); ++i)
            if (auto error = read_usage(words[i], entry)) return error;
        if (auto error = check_kind(entry)) return error;
        file_.lines.push_back(std::move(entry));
        return std::nullopt;
    }

    MaybeError read_name(const Word& word, HostLine& entry) const {
        entry.is_pool = word.text[0] == '@';
        entry.name = word.text.substr(entry.is_pool ? 1 : 0);
        entry.column = word.column;
        if (word.text[0] == '#')
            return error_at(entry.column, in_quotes(word.text) + " is not a node",
                            "comments begin with !");
        if (entry.name.empty())
            return error_at(entry.column, "\"@\" without the name of a pool",
                            "expected @name or @number");
        const auto bad = std::find_if_not(entry.name.begin(), entry.name.end(), is_name_character);
        if (bad != entry.name.end()) {
            const auto offset = std::distance(entry.name.begin(), bad) + (entry.is_pool ? 1 : 0);
            return error_at(static_cast<std::size_t>(entry.column + offset),
                            in_quotes(std::string_view(&*bad, 1)) +
                                " cannot be part of a name in " + in_quotes(word.text),
                            "expected one node, or one @pool, on each line");
        }
        // A remote shell would interpret it as an option.
        if (entry.name[0] == '-')
            return error_at(entry.column, in_quotes(word.text) + " cannot be a name",
                            "expected one that does not begin with -");
        if (entry.name.size() > kLongestName)
            return error_at(entry.column, "the name " + in_quotes(entry.name) + " is too long",
                            "expected at most " + std::to_string(kLongestName) + " bytes");
        // Other launchers write node:4 for four tasks. A name with two or more colons is an IPv6
        // address.
        if (std::count(entry.name.begin(), entry.name.end(), ':') == 1)
            return error_at(static_cast<std::size_t>(entry.column) + entry.name.find(':'),
                            in_quotes(entry.name) + " is not a node",
                            "expected the name alone, on a line of its own for each of its tasks");
        return std::nullopt;
    }

    MaybeError read_usage(const Word& word, HostLine& entry) const {
        const auto is = [&](std::string_view usage) { return same_word(word.text, usage); };
        const bool adapter = is("shared") || is("dedicated");
        const bool cpu = is("multiple") || is("unique");
        if (!adapter && !cpu) return unknown_usage(word);
        const bool again = adapter ? entry.adapter_use != AdapterUse::kUnspecified
                                   : entry.cpu_use != CpuUse::kUnspecified;
        if (again)
            return error_at(word.column,
                            in_quotes(word.text) + " says a second time how the " +
                                (adapter ? "adapter" : "processor") + " is used",
                            "expected at most one of each kind");
        if (adapter)
            entry.adapter_use = is("shared") ? AdapterUse::kShared : AdapterUse::kDedicated;
        if (cpu) entry.cpu_use = is("multiple") ? CpuUse::kMultiple : CpuUse::kUnique;
        return std::nullopt;
    }

    UserError unknown_usage(const Word& word) const {
        std::string expected = "expected shared or dedicated, multiple or unique";
        const std::string meant = nearest(word.text, {"shared", "dedicated", "multiple", "unique"});
        if (!meant.empty())
            expected += "; did you mean " + meant + "?";
        else if (word.text[0] == '!' || word.text[0] == '*' || word.text[0] == '#')
            expected += "; a comment needs a line of its own, beginning with !";
        else
            expected += "; each task's node has a line of its own";
        return error_at(word.column, in_quotes(word.text) + " after the name is not known",
                        expected);
    }

    MaybeError check_kind(const HostLine& entry) const {
        if (file_.lines.empty() || file_.lines[0].is_pool == entry.is_pool) return std::nullopt;
        const HostLine& first = file_.lines[0];
        return error_at(entry.column,
                        (entry.is_pool ? "pool " : "node ") + in_quotes(entry.name) +
                            " is mixed with " + (first.is_pool ? "pool " : "node ") +
                            in_quotes(first.name) + " of line " + std::to_string(first.line),
                        "expected only nodes or only pools");
    }

    TextLines lines_;
    HostFile file_;
};

}  // namespace

Result<HostFile> parse_host_file(std::string_view text, const std::string& path) {
    return HostFileParser(text, path).run();
}

Result<std::optional<HostFile>> load_host_file(HostFileUse use, const std::string& path) {
    if (use == HostFileUse::kNone) return std::optional<HostFile>();
    const bool is_default = use == HostFileUse::kDefault;
    if (is_default && !file_exists(kDefaultHostFile)) return std::optional<HostFile>();
    const auto text = read_text_file(is_default ? kDefaultHostFile : path, "host file");
    if (!text) {
        UserError error = text.error();
        error.expected = "-hostfile names the file; -hostfile NULL runs all tasks on this node";
        return error;
    }
    auto file = parse_host_file(text.value(), is_default ? kDefaultHostFile : path);
    if (!file) return file.error();
    return std::optional<HostFile>(std::move(file.value()));
}

}  // namespace poe::pm
