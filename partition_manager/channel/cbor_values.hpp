// The values that messages consist of, as a tree: whole numbers, byte strings, lists, bool, null.
// The JSON library holds the tree and converts it to and from CBOR; only cbor_values.cpp includes
// the library, because it is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace poe::pm::cbor {

using Value = nlohmann::json;

// One value and everything in it.
class Tree {
  public:
    Tree();
    // Throws a std::exception if the bytes are not CBOR.
    explicit Tree(std::string_view bytes);
    ~Tree();

    // The list to which the value is to be added. Only for the tree that is made without bytes.
    Value& to_fill() { return *list_; }
    const Value& value() const;
    std::string cbor() const;

  private:
    std::unique_ptr<Value> list_;  // its only element is the value
};

// ---- writing: each adds one value to the end of a list

void add_bool(Value& list, bool value);
void add_signed(Value& list, std::int64_t value);
void add_unsigned(Value& list, std::uint64_t value);
void add_bytes(Value& list, const void* bytes, std::size_t size);
void add_null(Value& list);
// Returns the new list, which is empty. The reference is valid until something is added to `list`.
Value& add_list(Value& list);

// ---- reading: each throws a std::exception if the value is of another kind or out of range

bool is_null(const Value& value);
bool to_bool(const Value& value);
std::int64_t to_signed(const Value& value, std::int64_t least, std::int64_t most);
std::uint64_t to_unsigned(const Value& value, std::uint64_t most);
// The bytes are valid as long as the tree.
std::string_view to_bytes(const Value& value);
std::size_t list_size(const Value& value);
const Value& element(const Value& list, std::size_t index);

}  // namespace poe::pm::cbor
