// The four messages and their proofs; see tcp_handshake.hpp.
#include "comm/tcp/tcp_handshake.hpp"

#include <cerrno>
#include <cstring>
#include <sys/random.h>

#include <sodium.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace poe::comm {
namespace {

constexpr std::uint32_t kMagic = 0x4c50'4d50;  // "PMPL" in memory
constexpr std::uint32_t kVersion = 3;

struct Hello {
    std::uint32_t magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint64_t link = 0;
    TaskId caller = 0;
    TaskId called = 0;
    Nonce nonce{};
};
static_assert(sizeof(Hello) == 56);

struct Challenge {
    std::uint32_t magic = kMagic;
    std::uint32_t version = kVersion;
    Nonce nonce{};
    std::array<std::uint8_t, 32> proof{};
};
static_assert(sizeof(Challenge) == 72);

struct Proof {
    std::array<std::uint8_t, 32> proof{};
};

struct VerdictMessage {
    std::uint8_t verdict = 0;
    std::array<std::uint8_t, 32> proof{};
};
static_assert(sizeof(VerdictMessage) == 33);

// The input of a proof. Different facts never give the same bytes, because all fields except the
// job id have a fixed size, and the job id's size is included.
struct Proven {
    char purpose[16] = "poe tcp device";
    std::uint32_t version = kVersion;
    std::uint8_t part = 0;
    std::uint8_t verdict = 0;
    std::uint16_t job_id_size = 0;
    TaskId caller = 0;
    TaskId called = 0;
    Nonce caller_nonce{};
    Nonce called_nonce{};
    char job_id[64] = {};
};
static_assert(sizeof(Proven) == 160);

bool sodium_ready() noexcept {
    static const bool ready = ::sodium_init() >= 0;
    return ready;
}

}  // namespace

Nonce fresh_nonce() {
    Nonce nonce;
    std::size_t got = 0;
    while (got < nonce.size()) {
        const ssize_t n = ::getrandom(nonce.data() + got, nonce.size() - got, 0);
        if (n < 0 && errno != EINTR) throw_errno("cannot get random bytes for a connection");
        if (n > 0) got += static_cast<std::size_t>(n);
    }
    return nonce;
}

Handshake Handshake::call(const HandshakeIdentity& identity, TaskId peer, const Nonce& nonce) {
    Handshake made(&identity, nonce);
    made.is_caller_ = true;
    made.peer_ = peer;
    made.put(Hello{kMagic, kVersion, identity.link, identity.me, peer, nonce});
    made.await(State::kAwaitChallenge, sizeof(Challenge));
    return made;
}

Handshake Handshake::answer(const HandshakeIdentity& identity, const Nonce& nonce) {
    Handshake made(&identity, nonce);
    made.await(State::kAwaitHello, sizeof(Hello));
    return made;
}

Handshake Handshake::answer(const HandshakeIdentities& identities, const Nonce& nonce) {
    Handshake made(nullptr, nonce);
    made.identities_ = &identities;
    made.await(State::kAwaitHello, sizeof(Hello));
    return made;
}

void Handshake::await(State state, std::size_t bytes) noexcept {
    state_ = state;
    wanted_ = bytes;
    got_ = 0;
}

template <typename Message>
void Handshake::put(const Message& message) noexcept {
    static_assert(sizeof(Message) <= sizeof out_);
    // The previous message has been sent completely, because the other end answers only a complete
    // message.
    POE_CHECK(sent_ == made_, sent_, made_);
    std::memcpy(out_.data(), &message, sizeof message);
    made_ = sizeof message;
    sent_ = 0;
}

Handshake::Mac Handshake::proof(Part part) const {
    POE_CHECK(sodium_ready());
    const std::string& job = identity_->job_id;
    Proven facts;
    POE_CHECK(job.size() < sizeof facts.job_id, job.size());
    facts.part = static_cast<std::uint8_t>(part);
    if (part == Part::kVerdict) facts.verdict = static_cast<std::uint8_t>(verdict_);
    facts.job_id_size = static_cast<std::uint16_t>(job.size());
    facts.caller = is_caller_ ? identity_->me : peer_;
    facts.called = is_caller_ ? peer_ : identity_->me;
    facts.caller_nonce = is_caller_ ? own_nonce_ : peer_nonce_;
    facts.called_nonce = is_caller_ ? peer_nonce_ : own_nonce_;
    std::memcpy(facts.job_id, job.data(), job.size());
    Mac mac;
    const int failed =
        ::crypto_generichash(mac.data(), mac.size(), reinterpret_cast<const unsigned char*>(&facts),
                             sizeof facts, identity_->key.data(), kJobKeyBytes);
    POE_CHECK(failed == 0, failed);
    return mac;
}

bool Handshake::take(const std::byte* bytes, std::size_t n) {
    POE_CHECK(n <= missing(), n, missing());
    std::memcpy(in_.data() + got_, bytes, n);
    got_ += n;
    if (got_ == wanted_) failed_ = !handle_message();
    return !failed_;
}

bool Handshake::handle_message() {
    // A message that arrives before ours was sent cannot be an answer to it.
    if (!output().empty()) return false;
    switch (state_) {
        case State::kAwaitHello:
            return handle_hello();
        case State::kAwaitChallenge:
            return handle_challenge();
        case State::kAwaitProof:
            return handle_proof();
        case State::kAwaitVerdict:
            return handle_verdict();
        case State::kProven:
        case State::kDecided:
            break;
    }
    return false;
}

bool Handshake::handle_hello() {
    Hello hello;
    std::memcpy(&hello, in_.data(), sizeof hello);
    if (hello.magic != kMagic || hello.version != kVersion) return false;
    if (identities_ != nullptr) identity_ = identities_->find(hello.link);
    if (identity_ == nullptr || hello.link != identity_->link || hello.called != identity_->me ||
        hello.caller < 0 || static_cast<std::uint32_t>(hello.caller) >= identity_->tasks ||
        hello.caller == identity_->me)
        return false;
    peer_ = hello.caller;
    peer_nonce_ = hello.nonce;
    put(Challenge{kMagic, kVersion, own_nonce_, proof(Part::kChallenge)});
    await(State::kAwaitProof, sizeof(Proof));
    return true;
}

bool Handshake::handle_challenge() {
    Challenge challenge;
    std::memcpy(&challenge, in_.data(), sizeof challenge);
    if (challenge.magic != kMagic || challenge.version != kVersion) return false;
    peer_nonce_ = challenge.nonce;
    const Mac expected = proof(Part::kChallenge);
    if (::sodium_memcmp(challenge.proof.data(), expected.data(), expected.size()) != 0)
        return false;
    put(Proof{proof(Part::kProof)});
    await(State::kAwaitVerdict, sizeof(VerdictMessage));
    return true;
}

bool Handshake::handle_proof() {
    Proof message;
    std::memcpy(&message, in_.data(), sizeof message);
    const Mac expected = proof(Part::kProof);
    if (::sodium_memcmp(message.proof.data(), expected.data(), expected.size()) != 0) return false;
    await(State::kProven, 0);
    return true;
}

bool Handshake::handle_verdict() {
    VerdictMessage message;
    std::memcpy(&message, in_.data(), sizeof message);
    if (message.verdict < static_cast<std::uint8_t>(Verdict::kAccepted) ||
        message.verdict > static_cast<std::uint8_t>(Verdict::kRefused))
        return false;
    verdict_ = static_cast<Verdict>(message.verdict);
    const Mac expected = proof(Part::kVerdict);
    if (::sodium_memcmp(message.proof.data(), expected.data(), expected.size()) != 0) return false;
    await(State::kDecided, 0);
    return true;
}

void Handshake::decide(Verdict verdict) {
    POE_CHECK(proven());
    verdict_ = verdict;
    put(VerdictMessage{static_cast<std::uint8_t>(verdict), proof(Part::kVerdict)});
    await(State::kDecided, 0);
}

}  // namespace poe::comm
