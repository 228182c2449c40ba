/* Made by tests/bench/fit_confidence from one half of the documents of its sets. */
#include "words/selection.h"

const double selection_weights[SELECTION_SIGNS] = {
    [SIGN_OWN] = 4.37,     [SIGN_OWN_BEST] = 0.21, [SIGN_SPECIFIC] = 2.09,   [SIGN_RUNS] = 0.51,
    [SIGN_BEFORE] = 3.10,  [SIGN_AFTER] = -0.32,   [SIGN_PASSAGE] = -0.52,   [SIGN_HEADING] = 3.13,
    [SIGN_SEARCH] = 3.43,  [SIGN_TOP] = 0.25,      [SIGN_FIT] = 1.97,        [SIGN_NEW] = -0.21,
    [SIGN_LENGTH] = -0.20, [SIGN_ASKS] = -2.47,    [SIGN_UNSTOPPED] = -2.71, [SIGN_FIRST] = 0.26,
};
