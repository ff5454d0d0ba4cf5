// Arguments of a foreign binary interface as arguments of our functions. An exported function has a
// variable of one of these classes for each argument that needs memory. The constructor takes the
// argument of the program; the destructor, which runs after our function, gives the result back. A
// result that our function has not set, because it failed, leaves the variable of the program as it
// was.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "interface/functions.hpp"
#include "interface/handles.hpp"
#include "mpi/foreign_abi/library.hpp"
#include "mpi/foreign_abi/statuses.hpp"
#include "mpi/foreign_abi/values.hpp"

namespace poe::mpi::foreign {

// A buffer, or MPI_IN_PLACE; MPI_BOTTOM is a null pointer in both interfaces.
inline const void* buffer_in(const void* buffer) noexcept {
    return reinterpret_cast<std::intptr_t>(buffer) == kInPlace ? MPI_IN_PLACE : buffer;
}
inline void* buffer_in(void* buffer) noexcept {
    return reinterpret_cast<std::intptr_t>(buffer) == kInPlace ? MPI_IN_PLACE : buffer;
}

inline const int* weights_in(const int* weights) noexcept {
    return weights == unweighted()      ? MPI_UNWEIGHTED
           : weights == weights_empty() ? MPI_WEIGHTS_EMPTY
                                        : weights;
}

// A variable that the function sets.
template <int (*kConvert)(int)>
class IntOut {
  public:
    explicit IntOut(int* result) noexcept : result_(result) {}
    IntOut(const IntOut&) = delete;
    IntOut& operator=(const IntOut&) = delete;
    ~IntOut() {
        if (value_ != kUntouched) *result_ = kConvert(value_);
    }
    operator int*() noexcept { return result_ == nullptr ? nullptr : &value_; }

  private:
    int* result_;
    int value_ = kUntouched;
};

// A string that the function sets. Ours may be longer than the program's variable, and is then cut.
template <std::size_t kOurs, std::size_t kTheirs>
class TextOut {
  public:
    // `length` is the variable for the length that our function sets; null: it sets none.
    TextOut(char* text, int* length) noexcept : text_(text), length_(length) { ours_[0] = kUnset; }
    TextOut(const TextOut&) = delete;
    TextOut& operator=(const TextOut&) = delete;
    ~TextOut() {
        if (text_ == nullptr || ours_[0] == kUnset) return;
        const std::size_t length = std::min(std::strlen(ours_), kTheirs - 1);
        std::memcpy(text_, ours_, length);
        text_[length] = '\0';
        if (length_ != nullptr) *length_ = static_cast<int>(length);
    }
    operator char*() noexcept { return text_ == nullptr ? nullptr : ours_; }

  private:
    static constexpr char kUnset = '\x7f';

    char* text_;
    int* length_;
    char ours_[kOurs];
};

// A variable that the function reads and may change. kIn converts what the program passes, kOut
// what it gets; their types tell those of both variables.
template <auto kIn, auto kOut>
class InOut;
template <typename Foreign, typename Ours, Ours (*kIn)(Foreign) noexcept,
          Foreign (*kOut)(Ours) noexcept>
class InOut<kIn, kOut> {
  public:
    explicit InOut(Foreign* variable) noexcept : variable_(variable) {
        if (variable != nullptr) ours_ = before_ = kIn(*variable);
    }
    InOut(const InOut&) = delete;
    InOut& operator=(const InOut&) = delete;
    ~InOut() {
        if (ours_ != before_) *variable_ = kOut(ours_);
    }
    operator Ours*() noexcept { return variable_ == nullptr ? nullptr : &ours_; }

  private:
    Foreign* variable_;
    Ours ours_{};
    Ours before_{};
};
template <typename Handle>
using HandleInOut = InOut<handle_in<Handle>, handle_out<Handle>>;

// Memory for an array; a short one is on the stack. If the program passes a null pointer, the array
// is null too.
template <typename Element, std::size_t kFew = 32>
class Memory {
  public:
    Memory(const void* array, int count) : count_(count > 0 ? static_cast<std::size_t>(count) : 0) {
        if (array == nullptr) {
            count_ = 0;
            first_ = nullptr;
        } else if (count_ > kFew) {
            many_.reset(new Element[count_]);
            first_ = many_.get();
        }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

  protected:
    std::size_t count_;
    Element few_[kFew];
    std::unique_ptr<Element[]> many_;
    Element* first_ = few_;
};

template <int (*kConvert)(int)>
class IntsIn : Memory<int> {
  public:
    IntsIn(const int* values, int count) : Memory(values, count) {
        for (std::size_t i = 0; i < count_; ++i) first_[i] = kConvert(values[i]);
    }
    operator const int*() const noexcept { return first_; }
};

template <int (*kConvert)(int)>
class IntsOut : Memory<int> {
  public:
    IntsOut(int* results, int count) : Memory(results, count), results_(results) {
        for (std::size_t i = 0; i < count_; ++i) first_[i] = kUntouched;
    }
    ~IntsOut() {
        for (std::size_t i = 0; i < count_; ++i)
            if (first_[i] != kUntouched) results_[i] = kConvert(first_[i]);
    }
    operator int*() noexcept { return first_; }

  private:
    int* results_;
};

// A handle that the function sets. No handle of ours is null, so null means that it was not set.
template <typename Handle>
class HandleOut {
  public:
    explicit HandleOut(Theirs<Handle>* theirs) noexcept : theirs_(theirs) {}
    HandleOut(const HandleOut&) = delete;
    HandleOut& operator=(const HandleOut&) = delete;
    ~HandleOut() {
        if (handle_ != nullptr) *theirs_ = handle_out(handle_);
    }
    operator Handle*() noexcept { return theirs_ == nullptr ? nullptr : &handle_; }

  private:
    Theirs<Handle>* theirs_;
    Handle handle_ = nullptr;
};

template <typename Handle>
class HandlesIn : Memory<Handle> {
  public:
    HandlesIn(const Theirs<Handle>* theirs, int count) : Memory<Handle>(theirs, count) {
        for (std::size_t i = 0; i < this->count_; ++i)
            this->first_[i] = handle_in<Handle>(theirs[i]);
    }
    operator const Handle*() const noexcept { return this->first_; }
};

template <typename Handle>
class HandlesOut : Memory<Handle> {
  public:
    HandlesOut(Theirs<Handle>* theirs, int count) : Memory<Handle>(theirs, count), theirs_(theirs) {
        for (std::size_t i = 0; i < this->count_; ++i) this->first_[i] = nullptr;
    }
    ~HandlesOut() {
        for (std::size_t i = 0; i < this->count_; ++i)
            if (this->first_[i] != nullptr) theirs_[i] = handle_out(this->first_[i]);
    }
    operator Handle*() noexcept { return this->first_; }

  private:
    Theirs<Handle>* theirs_;
};

// Handles of which the function may replace some by the null handle, and no others.
template <typename Handle>
class HandlesInOut : Memory<Handle> {
  public:
    HandlesInOut(Theirs<Handle>* theirs, int count)
        : Memory<Handle>(theirs, count), theirs_(theirs) {
        for (std::size_t i = 0; i < this->count_; ++i)
            this->first_[i] = handle_in<Handle>(theirs[i]);
    }
    ~HandlesInOut() {
        for (std::size_t i = 0; i < this->count_; ++i)
            if (is_predefined(this->first_[i]) && this->first_[i] != nullptr)
                theirs_[i] = handle_out(this->first_[i]);
    }
    operator Handle*() noexcept { return this->first_; }

  private:
    Theirs<Handle>* theirs_;
};

class StatusIn {
  public:
    explicit StatusIn(const Status* status) noexcept : ignored_(is_ignored(status)) {
        if (!ignored_) ours_ = status_in(*status);
    }
    operator const MPI_Status*() const noexcept { return ignored_ ? nullptr : &ours_; }

  private:
    bool ignored_;
    MPI_Status ours_;
};

class StatusOut {
  public:
    explicit StatusOut(Status* status) noexcept : status_(is_ignored(status) ? nullptr : status) {
        mark_untouched(ours_);
    }
    StatusOut(const StatusOut&) = delete;
    StatusOut& operator=(const StatusOut&) = delete;
    ~StatusOut() {
        if (status_ != nullptr) status_out(ours_, *status_);
    }
    operator MPI_Status*() noexcept { return status_ == nullptr ? MPI_STATUS_IGNORE : &ours_; }

  private:
    Status* status_;
    MPI_Status ours_;
};

class StatusInOut {
  public:
    explicit StatusInOut(Status* status) noexcept : status_(is_ignored(status) ? nullptr : status) {
        if (status_ != nullptr) ours_ = status_in(*status_);
    }
    StatusInOut(const StatusInOut&) = delete;
    StatusInOut& operator=(const StatusInOut&) = delete;
    ~StatusInOut() {
        if (status_ != nullptr) status_out(ours_, *status_);
    }
    operator MPI_Status*() noexcept { return status_ == nullptr ? nullptr : &ours_; }

  private:
    Status* status_;
    MPI_Status ours_;
};

class StatusesOut : Memory<MPI_Status> {
  public:
    StatusesOut(Status* statuses, int count)
        : Memory(is_ignored(statuses) ? nullptr : statuses, count), statuses_(statuses) {
        for (std::size_t i = 0; i < count_; ++i) mark_untouched(first_[i]);
    }
    ~StatusesOut() {
        for (std::size_t i = 0; i < count_; ++i) status_out(first_[i], statuses_[i]);
    }
    operator MPI_Status*() noexcept { return first_; }

  private:
    Status* statuses_;
};

// The lengths of arrays of datatypes. If the send buffer is MPI_IN_PLACE, the length is 0.
int remote_size(Theirs<MPI_Comm> comm);
int sending(const void* sendbuf, Theirs<MPI_Comm> comm);
int in_neighbors(Theirs<MPI_Comm> comm);
int out_neighbors(Theirs<MPI_Comm> comm);

}  // namespace poe::mpi::foreign
