// The handshake of two tasks over a new TCP connection: each proves to the other that it knows the
// job's key, then the called task decides whether this is the connection to use. It is separate
// from sockets (bytes in, bytes out) so that every kind of forgery can be tested.
//
//   caller -> called   Hello      magic, version, link, ids of caller and called, the caller's nonce
//   called -> caller   Challenge  magic, version, the called task's nonce, proof
//   caller -> called   Proof      proof
//   called -> caller   Verdict    accepted, yield or refused, proof
//
// A link is a set of tasks with a common key. The tasks of a job are one, with the number 0; tasks
// of several jobs that MPI has connected are another (tcp_peers.hpp). The ids are positions in the
// link.
//
// A proof is BLAKE2b-256 keyed with the link's key (libsodium's crypto_generichash) over: the kind
// of message, version, the link's name, both ids, both nonces, and the verdict.
//   - Nonces are 32 random bytes, fresh for each connection, so a recorded message proves nothing
//     in another connection.
//   - The kind of message is included, so no message can be reflected.
//   - Both ids are included, so a task cannot relay a proof under another identity.
// Hello is the only message that any process can produce. Until Proof has been checked, it affects
// only this object, which has a fixed size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/types.hpp"

namespace poe::comm {

using Nonce = std::array<std::uint8_t, 32>;

// Returns random bytes from the system. Throws Error if there are none.
Nonce fresh_nonce();

// The identity of this task in the handshakes of one link.
struct HandshakeIdentity {
    JobKey key{};
    std::string job_id;  // the name of the link, at most 63 bytes
    TaskId me = 0;
    std::uint32_t tasks = 0;  // members of the link; ids from there on are invalid
    std::uint64_t link = 0;   // its number; 0: the tasks of the own job
};

// The identities of this task, of which a caller names one.
class HandshakeIdentities {
  public:
    virtual ~HandshakeIdentities() = default;
    // Null if this task is not (yet) a member of the link. The result is valid as long as this
    // object.
    virtual const HandshakeIdentity* find(std::uint64_t link) const noexcept = 0;
};

enum class Verdict : std::uint8_t {
    kAccepted = 1,
    kYield = 2,    // the called task has called itself, and that connection counts
    kRefused = 3,  // there is or was a connection already
};

// One end of one handshake. Not thread-safe; never blocks.
class Handshake {
  public:
    // The caller's end. `identity` must outlive the handshake.
    static Handshake call(const HandshakeIdentity& identity, TaskId peer, const Nonce& nonce);
    // The called task's end, for callers of one link, or of any link that is known. The first
    // argument must outlive the handshake.
    static Handshake answer(const HandshakeIdentity& identity, const Nonce& nonce);
    static Handshake answer(const HandshakeIdentities& identities, const Nonce& nonce);

    // Returns how many bytes of the other end's next message are missing; 0: none is expected. A
    // caller that reads no more than that leaves the bytes after the handshake in the socket.
    std::size_t missing() const noexcept { return failed_ ? 0 : wanted_ - got_; }
    // Takes n <= missing() bytes. Returns false if the other end is faulty or does not belong to
    // this job; that is final.
    bool take(const std::byte* bytes, std::size_t n);

    // output() returns the bytes to send; sent() records that n of them were sent.
    std::span<const std::byte> output() const noexcept {
        return {out_.data() + sent_, made_ - sent_};
    }
    void sent(std::size_t n) noexcept { sent_ += n; }

    // On the called task's end: true if the caller, peer(), has proved its identity and waits for
    // decide().
    bool proven() const noexcept { return state_ == State::kProven; }
    void decide(Verdict verdict);
    // On the caller's end: true if the verdict has arrived.
    bool decided() const noexcept { return state_ == State::kDecided; }
    Verdict verdict() const noexcept { return verdict_; }

    TaskId peer() const noexcept { return peer_; }
    // Known from the time at which peer() is.
    const HandshakeIdentity& identity() const noexcept { return *identity_; }

  private:
    enum class State {
        kAwaitHello,
        kAwaitChallenge,
        kAwaitProof,
        kAwaitVerdict,
        kProven,
        kDecided
    };
    enum class Part : std::uint8_t { kChallenge = 1, kProof = 2, kVerdict = 3 };
    using Mac = std::array<std::uint8_t, 32>;

    Handshake(const HandshakeIdentity* identity, const Nonce& nonce)
        : identity_(identity), own_nonce_(nonce) {}
    void await(State state, std::size_t bytes) noexcept;
    Mac proof(Part part) const;
    template <typename Message>
    void put(const Message& message) noexcept;
    bool handle_message();
    bool handle_hello();
    bool handle_challenge();
    bool handle_proof();
    bool handle_verdict();

    const HandshakeIdentities* identities_ =
        nullptr;  // where to find identity_, as long as it is null
    const HandshakeIdentity* identity_;
    State state_ = State::kAwaitHello;
    bool is_caller_ = false;
    bool failed_ = false;
    TaskId peer_ = -1;
    Verdict verdict_ = Verdict::kRefused;
    Nonce own_nonce_;
    Nonce peer_nonce_{};
    std::size_t wanted_ = 0;
    std::size_t got_ = 0;
    std::size_t made_ = 0;
    std::size_t sent_ = 0;
    std::array<std::byte, 128> in_{};
    std::array<std::byte, 128> out_{};
};

}  // namespace poe::comm
