// See mi_record.hpp.
#include "debugger/mi_record.hpp"

#include <algorithm>
#include <cctype>

namespace poe::debugger {

namespace {

const std::string kNothing;

// Values nest this deep at most. gdb's own values are far below; the limit protects the stack.
constexpr int kMaxDepth = 200;

constexpr std::size_t kMaxTokenDigits = 18;

bool is_octal(char c) {
    return c >= '0' && c <= '7';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Parser {
  public:
    explicit Parser(std::string_view line) : rest_(line) {}

    std::optional<MiRecord> record() {
        MiRecord record;
        if (const std::size_t digits = count_digits(); digits > 0) {
            if (digits > kMaxTokenDigits) return std::nullopt;
            std::uint64_t token = 0;
            for (const char c : rest_.substr(0, digits))
                token = token * 10 + static_cast<std::uint64_t>(c - '0');
            record.token = token;
            rest_.remove_prefix(digits);
        }
        if (rest_.empty()) return std::nullopt;
        const std::optional<MiRecord::Kind> kind = kind_of(rest_.front());
        if (!kind) return std::nullopt;
        record.kind = *kind;
        rest_.remove_prefix(1);
        const bool is_stream = *kind == MiRecord::Kind::kConsole ||
                               *kind == MiRecord::Kind::kTarget || *kind == MiRecord::Kind::kLog;
        if (is_stream) {
            if (!string(record.text) || !rest_.empty()) return std::nullopt;
            return record;
        }
        record.name = word();
        record.results.kind = MiValue::Kind::kTuple;
        if (record.name.empty()) return std::nullopt;
        while (!rest_.empty()) {
            if (!take(',') || !item(record.results, 0)) return std::nullopt;
        }
        return record;
    }

  private:
    static std::optional<MiRecord::Kind> kind_of(char c) {
        switch (c) {
            case '^':
                return MiRecord::Kind::kResult;
            case '*':
                return MiRecord::Kind::kExec;
            case '+':
                return MiRecord::Kind::kStatus;
            case '=':
                return MiRecord::Kind::kNotify;
            case '~':
                return MiRecord::Kind::kConsole;
            case '@':
                return MiRecord::Kind::kTarget;
            case '&':
                return MiRecord::Kind::kLog;
            default:
                return std::nullopt;
        }
    }

    std::size_t count_digits() const {
        std::size_t count = 0;
        while (count < rest_.size() && is_digit(rest_[count])) ++count;
        return count;
    }

    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    // The name of a class or of a variable.
    std::string word() {
        std::size_t length = 0;
        while (length < rest_.size() &&
               (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 ||
                rest_[length] == '-' || rest_[length] == '_'))
            ++length;
        std::string text(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return text;
    }

    // An item with or without a name.
    bool item(MiValue& parent, int depth) {
        std::string name;
        if (!rest_.empty() && rest_.front() != '"' && rest_.front() != '{' &&
            rest_.front() != '[') {
            name = word();
            if (name.empty() || !take('=')) return false;
        }
        parent.items.emplace_back(std::move(name), MiValue());
        return value(parent.items.back().second, depth);
    }

    bool value(MiValue& result, int depth) {
        if (depth >= kMaxDepth || rest_.empty()) return false;
        if (rest_.front() == '"') return string(result.text);
        const char end = rest_.front() == '{' ? '}' : ']';
        result.kind = end == '}' ? MiValue::Kind::kTuple : MiValue::Kind::kList;
        if (!take('{') && !take('[')) return false;
        if (take(end)) return true;
        do {
            if (!item(result, depth + 1)) return false;
        } while (take(','));
        return take(end);
    }

    bool string(std::string& text) {
        if (!take('"')) return false;
        while (!rest_.empty()) {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c == '"') return true;
            if (c != '\\')
                text += c;
            else if (!escape(text))
                return false;
        }
        return false;
    }

    bool escape(std::string& text) {
        if (rest_.empty()) return false;
        if (is_octal(rest_.front())) {
            int code = 0;
            for (int digit = 0; digit < 3 && !rest_.empty() && is_octal(rest_.front()); ++digit) {
                code = code * 8 + (rest_.front() - '0');
                rest_.remove_prefix(1);
            }
            text += static_cast<char>(code & 0xff);
            return true;
        }
        const char c = rest_.front();
        rest_.remove_prefix(1);
        constexpr std::string_view kLetters = "abefnrtv";
        constexpr std::string_view kCodes = "\a\b\033\f\n\r\t\v";
        const std::size_t at = kLetters.find(c);
        text += at == std::string_view::npos ? c : kCodes[at];
        return true;
    }

    std::string_view rest_;
};

}  // namespace

const MiValue* MiValue::find(std::string_view name) const {
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const auto& i) { return i.first == name; });
    return found != items.end() ? &found->second : nullptr;
}

const std::string& MiValue::text_of(std::string_view name) const {
    const MiValue* value = find(name);
    return value != nullptr ? value->text : kNothing;
}

MiRecord parse_mi(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line == "(gdb)") {
        MiRecord prompt;
        prompt.kind = MiRecord::Kind::kPrompt;
        return prompt;
    }
    if (auto record = Parser(line).record()) return std::move(*record);
    MiRecord other;
    other.text = line;
    return other;
}

std::string mi_quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '\n') {
            quoted += "\\n";
        } else if (c == '\t') {
            quoted += "\\t";
        } else {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c;
        }
    }
    return quoted + '"';
}

}  // namespace poe::debugger
