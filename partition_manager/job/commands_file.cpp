// The word splitter, a small state machine over bytes, and files of such lines.
#include "partition_manager/job/commands_file.hpp"

#include <optional>

#include "partition_manager/job/text_file.hpp"

namespace poe::pm {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_separator(char c) {
    return is_blank(c) || c == '\r';
}

bool is_escapable_in_double_quotes(char c) {
    return c == '"' || c == '\\' || c == '$' || c == '`';
}

class CommandSplitter {
  public:
    CommandSplitter(std::string_view text, const std::string& source, int line)
        : text_(text), source_(source), line_(line) {}

    Result<Command> run() {
        if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos)
            return error_at(nul, "a NUL byte", "expected text: no argument can hold it");
        while (at_ < text_.size()) {
            if (is_separator(text_[at_])) {
                end_word();
                ++at_;
            } else if (auto error = take_part()) {
                return *error;
            }
        }
        end_word();
        return std::move(words_);
    }

  private:
    using MaybeError = std::optional<UserError>;

    UserError error_at(std::size_t offset, std::string text, std::string expected) const {
        UserError error;
        error.source = source_;
        error.line = line_;
        error.column = static_cast<int>(offset) + 1;
        error.text = std::move(text);
        error.expected = std::move(expected);
        return error;
    }

    void end_word() {
        if (in_word_) words_.push_back(std::move(word_));
        word_.clear();
        in_word_ = false;
    }

    // Takes one plain byte, one escaped byte, or one quoted section.
    MaybeError take_part() {
        in_word_ = true;
        switch (text_[at_]) {
            case '\'':
                return take_single_quoted();
            case '"':
                return take_double_quoted();
            case '\\':
                if (at_ + 1 == text_.size())
                    return error_at(at_, "a backslash at the end of the command",
                                    "write \\\\ for a backslash; a command is one line");
                word_ += text_[at_ + 1];
                at_ += 2;
                return std::nullopt;
            default:
                word_ += text_[at_++];
                return std::nullopt;
        }
    }

    MaybeError take_single_quoted() {
        const std::size_t close = text_.find('\'', at_ + 1);
        if (close == std::string_view::npos) return unclosed("'");
        word_ += text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        return std::nullopt;
    }

    MaybeError take_double_quoted() {
        for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
            if (text_[i] == '"') {
                at_ = i + 1;
                return std::nullopt;
            }
            const bool escape = text_[i] == '\\' && i + 1 < text_.size() &&
                                is_escapable_in_double_quotes(text_[i + 1]);
            if (escape) ++i;
            word_ += text_[i];
        }
        return unclosed("\"");
    }

    UserError unclosed(const std::string& quote) const {
        return error_at(at_, "the quote " + quote + " has no end on its line",
                        "expected another " + quote + ", or \\" + quote + " for the character");
    }

    std::string_view text_;
    const std::string& source_;
    int line_;
    std::size_t at_ = 0;
    bool in_word_ = false;
    std::string word_;
    Command words_;
};

// True for bytes that are special neither to a shell nor to a terminal.
bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

}  // namespace

Result<Command> split_command(std::string_view text, const std::string& source, int line) {
    return CommandSplitter(text, source, line).run();
}

std::string shell_quoted(std::string_view word) {
    bool plain = !word.empty();
    bool control = false;
    for (const char c : word) {
        plain = plain && is_plain(c);
        control = control || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    }
    if (plain) return std::string(word);
    std::string out = control ? "$'" : "'";
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (control && (byte < 0x20 || byte == 0x7f)) {
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        } else if (c == '\'') {
            out += control ? "\\'" : "'\\''";
        } else if (control && c == '\\') {
            out += "\\\\";
        } else {
            out += c;
        }
    }
    return out + "'";
}

bool is_blank_or_comment(std::string_view line) {
    for (const char c : line)
        if (!is_separator(c)) return c == '!' || c == '*' || c == '#';
    return true;
}

namespace {

constexpr std::string_view kSetLine = "#pset";

// The names of a line "#pset NAME NAME"; nothing if it is another comment.
Result<std::optional<std::vector<std::string>>> names_of_sets(std::string_view line,
                                                              const std::string& path, int number) {
    using Names = std::optional<std::vector<std::string>>;
    if (!line.starts_with(kSetLine)) return Names();
    line.remove_prefix(kSetLine.size());
    if (!line.empty() && !is_separator(line.front())) return Names();
    auto words = split_command(line, path, number);
    if (!words) return words.error();
    for (const std::string& name : words.value()) {
        if (name.find_first_of(" =\t") != std::string::npos || name.empty()) {
            UserError error;
            error.source = path;
            error.line = number;
            error.text = "\"" + name + "\" is no name of a process set";
            error.expected = "give names without blanks and equals signs after #pset";
            return error;
        }
    }
    return Names(std::move(words.value()));
}

}  // namespace

Result<CommandsFile> parse_commands_file(std::string_view text, const std::string& path) {
    CommandsFile file;
    file.path = path;
    TextLines lines(text);
    std::vector<std::string> sets;
    while (const auto line = lines.next()) {
        if (is_blank_or_comment(*line)) {
            auto names = names_of_sets(*line, path, lines.line());
            if (!names) return names.error();
            if (names.value()) sets = std::move(*names.value());
            continue;
        }
        auto words = split_command(*line, path, lines.line());
        if (!words) return words.error();
        file.lines.push_back({std::move(words.value()), lines.line(), sets});
    }
    return file;
}

Result<CommandsFile> load_commands_file(const std::string& path) {
    const auto text = read_text_file(path, "commands file");
    if (!text) return text.error();
    return parse_commands_file(text.value(), path);
}

}  // namespace poe::pm
