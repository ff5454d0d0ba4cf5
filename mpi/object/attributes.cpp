// Keys and attributes: when which function of the program is called.
#include "mpi/object/attributes.hpp"

#include <algorithm>
#include <string>

namespace poe::mpi {
namespace {

Fault failed(const Keyval& keyval, const char* function, int code) {
    return {code, "",
            std::string("the ") + function + " function of attribute key " +
                std::to_string(keyval.number) + " returned error code " + std::to_string(code),
            ""};
}

Fault call_delete(const Keyval& keyval, void* object, void* value) {
    if (keyval.remove == MPI_COMM_NULL_DELETE_FN) return {};
    const int code =
        keyval.remove(static_cast<MPI_Comm>(object), keyval.number, value, keyval.extra_state);
    return code == MPI_SUCCESS ? Fault{} : failed(keyval, "delete", code);
}

// Sets `copied` if the attribute goes to the new object, with the value `out`.
Fault call_copy(const Keyval& keyval, void* object, void* value, void*& out, bool& copied) {
    copied = false;
    if (keyval.copy == MPI_COMM_NULL_COPY_FN) return {};
    if (keyval.copy == MPI_COMM_DUP_FN) {
        copied = true;
        out = value;
        return {};
    }
    int flag = 0;
    const int code = keyval.copy(static_cast<MPI_Comm>(object), keyval.number, keyval.extra_state,
                                 value, static_cast<void*>(&out), &flag);
    if (code != MPI_SUCCESS) return failed(keyval, "copy", code);
    copied = flag != 0;
    return {};
}

}  // namespace

int Keyvals::create(Kind kind, CopyFunction* copy, DeleteFunction* remove, void* extra_state) {
    const std::lock_guard guard(lock_);
    const int number = next_++;
    auto keyval = std::make_shared<const Keyval>(Keyval{number, kind, copy, remove, extra_state});
    entries_.emplace(number, Entry{keyval, keyval});
    return number;
}

KeyvalPtr Keyvals::find(Kind kind, int number) {
    const std::lock_guard guard(lock_);
    const auto found = entries_.find(number);
    if (found == entries_.end()) return nullptr;
    KeyvalPtr keyval = found->second.keyval.lock();
    if (keyval == nullptr) {
        entries_.erase(found);
        return nullptr;
    }
    return keyval->kind == kind ? keyval : nullptr;
}

Fault Keyvals::free(Kind kind, int number) {
    if (find(kind, number) == nullptr) {
        return {MPI_ERR_KEYVAL, "keyval", std::to_string(number) + " is no attribute key",
                "use a key that was created for this kind of objects and not freed"};
    }
    const std::lock_guard guard(lock_);
    const auto found = entries_.find(number);
    if (found != entries_.end()) found->second.owned.reset();
    return {};
}

Fault Attributes::set(void* object, const KeyvalPtr& keyval, void* value) {
    void* old = nullptr;
    if (get(keyval->number, old)) {
        if (Fault fault = call_delete(*keyval, object, old)) return fault;
        erase(keyval->number);
    }
    const std::lock_guard guard(lock_);
    entries_.push_back({keyval, value});
    return {};
}

bool Attributes::get(int number, void*& value) const {
    const std::lock_guard guard(lock_);
    for (const Entry& entry : entries_) {
        if (entry.keyval->number != number) continue;
        value = entry.value;
        return true;
    }
    return false;
}

Fault Attributes::remove(void* object, int number) {
    for (const Entry& entry : snapshot()) {
        if (entry.keyval->number != number) continue;
        if (Fault fault = call_delete(*entry.keyval, object, entry.value)) return fault;
        erase(number);
        return {};
    }
    return {MPI_ERR_KEYVAL, "keyval",
            "the object has no attribute with key " + std::to_string(number), ""};
}

Fault Attributes::copy_to(Attributes& to, void* object) const {
    for (const Entry& entry : snapshot()) {
        void* out = nullptr;
        bool copied = false;
        if (Fault fault = call_copy(*entry.keyval, object, entry.value, out, copied)) return fault;
        if (!copied) continue;
        const std::lock_guard guard(to.lock_);
        to.entries_.push_back({entry.keyval, out});
    }
    return {};
}

Fault Attributes::remove_all(void* object) {
    Fault first;
    while (true) {
        Entry last{};
        {
            const std::lock_guard guard(lock_);
            if (entries_.empty()) return first;
            last = entries_.back();
        }
        // The attribute is still set while its function runs, as in remove().
        Fault fault = call_delete(*last.keyval, object, last.value);
        if (fault && !first) first = std::move(fault);
        erase(last.keyval->number);
    }
}

bool Attributes::empty() const {
    const std::lock_guard guard(lock_);
    return entries_.empty();
}

std::vector<Attributes::Entry> Attributes::snapshot() const {
    const std::lock_guard guard(lock_);
    return entries_;
}

void Attributes::erase(int number) {
    const std::lock_guard guard(lock_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.keyval->number == number; });
}

Attributes& AttributeTable::of(const void* handle) {
    const std::lock_guard guard(lock_);
    auto& set = sets_[handle];
    if (set == nullptr) set = std::make_unique<Attributes>();
    return *set;
}

Attributes* AttributeTable::find(const void* handle) {
    const std::lock_guard guard(lock_);
    const auto found = sets_.find(handle);
    return found == sets_.end() ? nullptr : found->second.get();
}

void AttributeTable::forget(const void* handle) {
    const std::lock_guard guard(lock_);
    sets_.erase(handle);
}

}  // namespace poe::mpi
