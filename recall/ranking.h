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
  double second, third;  // two and three steps away, on either side
};
inline constexpr Lending kConversation{0.6, 0.3, 0.7, 0.2, 0.1};
inline constexpr Lending kText{0.15, 0.1, 0.0, 0, 0};
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
// Explicit links: what a link passes on of the evidence at its other end; through an entity twice
// (.36). .6 of what is surely an answer is shown at the default min_score, .6 of a guess is not.
// What has evidence of its own gets this share of it more. Adding all of it moved first places for
// wrong links (docs/adr/0022-graph-arm.md, bench/recall_eval/run.py links).
inline constexpr double kLinked = 0.6, kLinkedMore = 0.25;
// Links that are read of one memory or entity, newest first. An entity with more of them joins
// nothing: it says no more about two memories than a common word does.
inline constexpr std::size_t kLinksAnEnd = 32;

// How deep a search goes, by budget; how many are compared in full: docs/adr/0027-turned-codes.md
// (bench/recall_eval/README.md has what each finds and costs).
struct Depth {
  std::size_t candidates;  // rows that an arm hands on
  // Every vector is compared up to this many rows; beyond, sign codes choose so many to compare.
  std::uint32_t exact_rows;
  std::size_t rescored;
  // The best memories whose links are followed, how often, and the records read for it.
  std::size_t link_seeds;
  unsigned hops;
  std::size_t link_reads;
  bool look_again;
};
inline constexpr Depth kLow{60, 10'000, 300, 5, 1, 200, false};
inline constexpr Depth kMid{300, 100'000, 500, 20, 1, 1000, false};
inline constexpr Depth kHigh{1000, 100'000, 2000, 50, 2, 4000, true};

// The second look of a deep search, at turns alone. Behind the first places, what is like one of
// the best so many in meaning moves up: from the lower cosine on, fully at the upper one, by so
// much of the unit. Further behind, what stands beside something near in meaning does. Earlier
// places, other texts and the mean of the best lost recall (docs/adr/0022-graph-arm.md).
inline constexpr std::size_t kSettledPlaces = 10, kLookedLike = 3;
inline constexpr double kLookAgain = 0.3, kLikeLow = 0.2, kLikeHigh = 0.8;
inline constexpr std::size_t kSettledMeaning = 20;
inline constexpr double kLentMeaning = 0.6;

// Near-copies: of the first so many places, what has a cosine from here to 1 with one that stands
// above it loses up to this share. From .8 on facts that differ in one word lose their places, from
// .85 on none of our questions loses an answer.
inline constexpr std::size_t kComparedPlaces = 30;
inline constexpr double kCopyLow = 0.85, kCopyCosts = 0.9;

// The newest rows that are looked at for their time alone.
inline constexpr std::uint32_t kTemporalRows = 10'000;
// Where nothing else is said (tests).
inline constexpr std::uint32_t kExactRows = kMid.exact_rows;
inline constexpr std::size_t kRescored = kMid.rescored;

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
// How far the best stands out, 1 less the mean share of so many behind it, says most about whether
// it is the answer: above kSureFrom, where questions without one end, a score is
// kSureFrom + (kMostSure - kSureFrom) x u^2 x (kUnmatched + (1 - kUnmatched) x min(1,
// margin / kFullMargin)), u being where it lay between the two. With that, scores of first results
// come nearest to their hit rate on dialogues and facts without telling worse between the right and
// another bank.
inline constexpr double kSureFrom = 0.3;
inline constexpr std::size_t kMarginPlaces = 4;
inline constexpr double kFullMargin = 0.5, kUnmatched = 0.5;

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
