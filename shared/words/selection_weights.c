/* Made by tests/bench/fit_confidence from one half of the documents of its sets. */
#include "words/selection.h"

const double selection_weights[SELECTION_SIGNS] = {
    [SIGN_OWN] = 3.62,       [SIGN_OWN_BEST] = 0.44, [SIGN_SPECIFIC] = 2.44,   [SIGN_RUNS] = 0.14,
    [SIGN_BEFORE] = 2.79,    [SIGN_AFTER] = -0.19,   [SIGN_PASSAGE] = -0.44,   [SIGN_HEADING] = 3.22,
    [SIGN_SEARCH] = 3.22,    [SIGN_TOP] = 0.36,      [SIGN_FIT_NUMBER] = 3.70, [SIGN_FIT_NAME] = 0.74,
    [SIGN_FIT_OTHER] = 2.60, [SIGN_FOCUS] = 0.33,    [SIGN_SUBJECT] = 0.38,    [SIGN_NEW] = -0.21,
    [SIGN_LENGTH] = -0.25,   [SIGN_ASKS] = -2.46,    [SIGN_UNSTOPPED] = -2.53, [SIGN_FIRST] = 0.19,
};
