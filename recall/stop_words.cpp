#include "recall/stop_words.h"

#include <algorithm>
#include <array>

namespace strongroom::recall {

namespace {

using namespace std::string_view_literals;

// Sorted. Articles, pronouns, prepositions, conjunctions, auxiliaries and question words. Words
// that also name things ("may" the month, "will" the testament, "it" aside) are in when their
// common use is grammar. Spellings without the apostrophe are what folding makes of typed ones.
constexpr std::array kStopWords = {
    "a"sv,       "about"sv,     "above"sv,  "after"sv,    "again"sv,      "against"sv,
    "all"sv,     "also"sv,      "am"sv,     "an"sv,       "and"sv,        "any"sv,
    "are"sv,     "as"sv,        "at"sv,     "be"sv,       "because"sv,    "been"sv,
    "before"sv,  "being"sv,     "below"sv,  "between"sv,  "both"sv,       "but"sv,
    "by"sv,      "can"sv,       "cannot"sv, "could"sv,    "did"sv,        "do"sv,
    "does"sv,    "doing"sv,     "done"sv,   "dont"sv,     "during"sv,     "each"sv,
    "either"sv,  "else"sv,      "ever"sv,   "every"sv,    "few"sv,        "for"sv,
    "from"sv,    "further"sv,   "had"sv,    "has"sv,      "have"sv,       "having"sv,
    "he"sv,      "her"sv,       "here"sv,   "hers"sv,     "herself"sv,    "him"sv,
    "himself"sv, "his"sv,       "how"sv,    "however"sv,  "i"sv,          "if"sv,
    "im"sv,      "in"sv,        "into"sv,   "is"sv,       "it"sv,         "its"sv,
    "itself"sv,  "ive"sv,       "just"sv,   "may"sv,      "me"sv,         "might"sv,
    "more"sv,    "most"sv,      "must"sv,   "my"sv,       "myself"sv,     "neither"sv,
    "no"sv,      "nor"sv,       "not"sv,    "of"sv,       "off"sv,        "on"sv,
    "once"sv,    "only"sv,      "onto"sv,   "or"sv,       "other"sv,      "our"sv,
    "ours"sv,    "ourselves"sv, "out"sv,    "over"sv,     "own"sv,        "per"sv,
    "quite"sv,   "rather"sv,    "really"sv, "same"sv,     "shall"sv,      "she"sv,
    "should"sv,  "since"sv,     "so"sv,     "some"sv,     "such"sv,       "than"sv,
    "that"sv,    "the"sv,       "their"sv,  "theirs"sv,   "them"sv,       "themselves"sv,
    "then"sv,    "there"sv,     "these"sv,  "they"sv,     "this"sv,       "those"sv,
    "though"sv,  "through"sv,   "to"sv,     "too"sv,      "under"sv,      "until"sv,
    "up"sv,      "upon"sv,      "us"sv,     "very"sv,     "via"sv,        "was"sv,
    "we"sv,      "were"sv,      "what"sv,   "when"sv,     "where"sv,      "whether"sv,
    "which"sv,   "while"sv,     "who"sv,    "whom"sv,     "whose"sv,      "why"sv,
    "will"sv,    "with"sv,      "within"sv, "without"sv,  "would"sv,      "yet"sv,
    "you"sv,     "your"sv,      "yours"sv,  "yourself"sv, "yourselves"sv,
};
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

}  // namespace

bool is_stop_word(std::string_view word) noexcept {
  return std::binary_search(kStopWords.begin(), kStopWords.end(), word);
}

}  // namespace strongroom::recall
