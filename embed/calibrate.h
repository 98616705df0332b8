// What of a cosine is evidence: found for any model from pairs of our own, without evaluation data.
//
// A curve {c0, c1} says that a cosine of c0 is no evidence and one of c1 is full evidence. Models
// differ much: unrelated texts have a cosine of .05 in one and of .75 in another. The table of
// embed/calibration_pairs.h has questions, each with a passage that answers it. Every question with
// its own passage gives the matching cosines (mean M, deviation S), every question with every other
// passage those that do not match (mean N, deviation R). The curve of the built-in model was tuned;
// another model gets the one that sits at the same quantiles of its own two distributions, taken
// for normal ones:
//
//   c0' = N' + R' (c0 - N) / R        c1' = M' + S' (c1 - M) / S
//
// with N, R, M, S, c0, c1 of the built-in model and N', R', M', S' of the other.
#pragma once

#include "recall/embedder.h"

namespace strongroom::embed {

/// The curve for `model`, which embeds each question and each passage of the table once. Throws
/// Error invalid when matching pairs are hardly nearer than others: such a model finds nothing.
/// Errors of the model pass through.
recall::EvidenceCurve calibrate(recall::Embedder& model);

}  // namespace strongroom::embed
