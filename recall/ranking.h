// Every constant of the ranking, once, with its source.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strongroom::recall::ranking {

// BM25. k1 .9 and b .4 do better on short texts than the textbook's 1.2 and .75 (Anserini's
// defaults;
// + 1 point of R@10 on the dialogue set, bench/recall_eval).
inline constexpr double kK1 = 0.9;
inline constexpr double kB = 0.4;

// Structure: what the previous and the next passage lend, and the mean of the three best of the
// same document. In a conversation (the row has a speaker) an answer often lies beside the words
// that were asked for; in a text it mostly does not. Tuned on five dialogues and on 300 questions
// about plain facts (bench/recall_eval, docs/performance.md).
struct Lending {
  double previous, next, session;
};
inline constexpr Lending kConversation{0.6, 0.3, 0.7};
inline constexpr Lending kText{0.15, 0.1, 0.0};
// What the one speaker that the query names adds, as a share of the best own score.
inline constexpr double kSpeaker = 0.4;

// Meaning and time are measured in units of the query's best lexical score, or of this share of
// what a row with all its words could have, where few of them are known.
inline constexpr double kLeastUnit = 0.7;
// What full evidence by meaning is worth. A turn of a conversation is short and leans on the turns
// around it, so that its own vector tells less.
// In a query of identifiers alone it only breaks ties.
inline constexpr double kMeaningOfSpeech = 1.2, kMeaningOfText = 3.0, kMeaningOfNames = 0.2;
// What a fitting time is worth. Vague times ("recently") count half; so does the time at which
// something was said when it happened at another.
inline constexpr double kTemporal = 1.0;
inline constexpr double kVagueTime = 0.5, kMentionedTime = 0.5;
// The newest rows that are looked at for their time alone.
inline constexpr std::uint32_t kTemporalRows = 10'000;
// Every vector is compared up to this many rows; beyond, sign codes choose so many to compare.
inline constexpr std::uint32_t kExactRows = 100'000;
inline constexpr std::size_t kRescored = 1000;

// Confidence that the bank knows an answer: the largest share of the query's weight that one of the
// best rows covers together with its neighbours. A speaker of the bank in the query adds a tenth of
// what is missing: it asks about people who are known here.
inline constexpr std::size_t kCoverageRows = 20;
inline constexpr double kNamedSpeaker = 0.1;
// And the nearest vector this share of what is then missing, from the evidence at which questions
// about something else mostly end to that which only real ones reach.
inline constexpr double kMeaningConfidence = 0.9;
inline constexpr double kNearLow = 0.15, kNearHigh = 0.7;
// With vectors a confidence x is a score of kMostSure x sqrt(x), so that .3 is where nine of ten
// questions about something else stay below and 99 of 100 real ones do not. Without them, and for a
// share x of the attainable, it is 1 - exp(-kSlope x).
inline constexpr double kMostSure = 0.95;
inline constexpr double kSlope = 1.5;

// The typo rule: weight of a word one edit away, and two.
inline constexpr double kOneEdit = 0.6;
inline constexpr double kTwoEdits = 0.4;
inline constexpr std::size_t kTwoEditLetters = 8;
inline constexpr std::size_t kCorrections = 3;
// Memories of a stem that are looked at for the very form of a word.
inline constexpr std::size_t kFormMemories = 1000;

// A term of at most this many memories brings them into the first kGuaranteedPlaces.
inline constexpr std::size_t kRareMemories = 2;
inline constexpr std::size_t kRareRows = 16;  // their passages together
inline constexpr std::size_t kGuaranteedPlaces = 5;
// The least evidence of a memory that holds a whole identifier of the query which is that rare.
inline constexpr double kRareEvidence = 0.62;

// Priors: bounds of each and of their product (the contract's), decay a day by type, spans.
inline constexpr double kPriorLow = 0.8, kPriorHigh = 1.25;
inline constexpr double kProductLow = 0.7, kProductHigh = 1.4;
inline constexpr double kDecayWorld = 0.03, kDecayExperience = 0.15;
inline constexpr double kWeightSpan = 0.2;
inline constexpr double kRecencySpan = 0.1, kRecencyDays = 30;
inline constexpr double kObservationPrior = 1.15;

}  // namespace strongroom::recall::ranking
