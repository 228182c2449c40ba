/* Made by tests/bench/fit_selection from one half of the documents of its sets. */
#include "words/selection.h"

const double selection_weights[SELECTION_SIGNS] = {
    [SIGN_OWN] = 2.80,        [SIGN_OWN_BEST] = 0.32,
    [SIGN_SPECIFIC] = 2.03,   [SIGN_RUNS] = 0.28,
    [SIGN_BEFORE] = 1.18,     [SIGN_AFTER] = -1.25,
    [SIGN_PASSAGE] = -0.54,   [SIGN_HEADING] = 4.20,
    [SIGN_SEARCH] = 2.97,     [SIGN_TOP] = 0.64,
    [SIGN_FIT_NUMBER] = 3.65, [SIGN_FIT_NAME] = 0.61,
    [SIGN_FIT_OTHER] = 2.46,  [SIGN_FOCUS] = 0.47,
    [SIGN_SUBJECT] = 0.81,    [SIGN_FIT_OWN] = 1.45,
    [SIGN_CONTINUES] = 1.95,  [SIGN_ANSWERS_HEADING] = 1.29,
    [SIGN_NEW] = -0.36,       [SIGN_LENGTH] = 0.02,
    [SIGN_ASKS] = -2.65,      [SIGN_FIT_IDENTIFIER] = 0.90,
    [SIGN_FIT_BEFORE] = 0.90, [SIGN_UNSTOPPED] = -2.61,
    [SIGN_FIRST] = -0.03,
};
