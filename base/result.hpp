// Result<T>: returned by every function that reads user input. It holds either a value or a
// UserError that says where the offending text is, what it is, and what was expected.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.hpp"

namespace poe {

// A mistake in user input. `source` names the file, flag or variable. `line` and `column` count
// from 1; 0 means not applicable. `number` is the message number (0031-NNN), 0 if there is none.
struct UserError {
    std::string source;
    int line = 0;
    int column = 0;
    std::string text;      // what is wrong, quoting the offending words
    std::string expected;  // what would be right, and what the user probably meant
    int number = 0;

    // Formats the error on one line, without a severity: "host.list:3:7: unknown node \"n9\";
    // expected ...".
    std::string str() const {
        std::string out;
        if (!source.empty()) {
            out = source;
            if (line > 0) out.append(":").append(std::to_string(line));
            if (line > 0 && column > 0) out.append(":").append(std::to_string(column));
            out += ": ";
        }
        out += text;
        if (!expected.empty()) out += "; " + expected;
        return out;
    }
};

// Holds a T or a UserError. Not thread-safe. Reading the alternative that is not held is an
// internal error and aborts.
template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(UserError error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() {
        POE_CHECK(ok(), error().str());
        return std::get<0>(state_);
    }
    const T& value() const {
        POE_CHECK(ok(), error().str());
        return std::get<0>(state_);
    }
    const UserError& error() const {
        POE_CHECK(!ok());
        return std::get<1>(state_);
    }

  private:
    std::variant<T, UserError> state_;
};

}  // namespace poe
