/* Private to extractive/: one request of the extractive provider, and the steps to its answer.
 *
 *      extract_read        the question, the findings and the earlier answer, from the conversation
 *      extract_want        the task, from the form of the answer and the offered tools
 *          extract_split, extract_judge, extract_queries     an object that fits the schema
 *          extract_call_tools                                calls of tools
 *          extract_reply                                     sentences of the evidence, or a text without a finding
 *      extract_cut         the answer up to a stop text or the longest length
 *
 * Everything is deterministic: the same request has the same answer. Memory is the call's arena; the texts of the
 * request are borrowed. Texts of tools and fences of data are searched and quoted, and have no other effect. */
#ifndef RENGA_LLM_GATEWAY_EXTRACT_H
#define RENGA_LLM_GATEWAY_EXTRACT_H

#include "answer/answer.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "provider/provider.h"
#include "words/languages.h"
#include "words/selection.h"

#include <stdbool.h>
#include <stddef.h>

#define EXTRACT_ASKED_MAX    ((size_t)4096) /* bytes of a question that are read */
#define EXTRACT_PASSAGES_MAX 512
#define EXTRACT_RESULTS_MAX  64 /* subtasks of a final answer */
#define EXTRACT_PARTS_MAX    10

/* Bytes that belong to another owner; not terminated by a NUL. */
struct text {
    const char *bytes;
    size_t length;
};

/* A subtask that was worked on before the final answer. */
struct result {
    struct text subtask, answer;
    bool found; /* an answer was found */
};

/* Scores of the searches, 0 to 1: the best one, and its lead over the second and the fifth, or over the last of fewer.
 * A text that nearly repeats a better one does not count. */
struct found {
    bool scored; /* at least one search had a score */
    double best, ahead_of_second, ahead;
};

struct extract {
    struct arena *arena;
    const Renga__V1__ChatRequest *request;
    bool japanese;           /* the question is read as Japanese, else as English */
    enum language language;  /* of fixed texts */
    double least_confidence; /* of an answer that is given, 0 to 1; EXTRACT_ENOUGH unless the deployment says another */
    struct text asked; /* the last <subtask>, else <question>, else the last user's text; trimmed, at most ASKED_MAX */
    struct text written;  /* the same before slips of the finger were mended (extract_spelled) */
    struct text answer;   /* of the last <answer>; length 0: no answer */
    struct text advice;   /* of the last <advice> */
    struct text findings; /* of the last <findings> */
    struct passage passages[EXTRACT_PASSAGES_MAX];
    uint64_t hashes[EXTRACT_PASSAGES_MAX]; /* of their texts */
    size_t passage_count;
    struct found found;
    struct result results[EXTRACT_RESULTS_MAX];
    size_t result_count;
    bool tools_answered; /* a tool has answered since the user spoke last */
};

/* NULL: the arena is exhausted. */
struct extract *extract_read(struct arena *arena, const Renga__V1__ChatRequest *request);

enum extract_want { WANT_REPLY, WANT_SPLIT, WANT_JUDGEMENT, WANT_QUERY_PLAN, WANT_QUERIES };

/* The task, from the form of the answer. `limit` is the maximum number of elements of a list. False with
 * FAILED_PRECONDITION: an unknown form. */
bool extract_want(const struct extract *extract, enum extract_want *want, size_t *limit, struct failure *failure);

/* Splits a question into parts that can be searched independently and understood alone: 1 to `limit` (at most
 * EXTRACT_PARTS_MAX). */
size_t extract_split(struct arena *arena, struct text question, bool japanese, size_t limit,
                     struct text parts[EXTRACT_PARTS_MAX]);

/* The question with words of the passages in the place of those that differ from them by one letter and stand in no
 * passage, if their sentences have other words of the question too. Linear in both. */
struct text extract_spelled(struct arena *arena, const struct passage *passages, size_t count, struct text question);

/* False for greetings and thanks only, and for a text without any word. */
bool extract_asks(struct text question);

/* Judges an answer by its support in the sources and its coverage of the question. `advice` gets one sentence that
 * names the missing parts, or says that the answer is complete. */
bool extract_judge(const struct extract *extract, struct buffer *advice);

/* Search queries: the question, and its strong words alone. */
size_t extract_queries(const struct extract *extract, size_t limit, struct text queries[EXTRACT_PARTS_MAX]);

/* The next search queries: first the parts of the question; after findings the unanswered parts, and new names in
 * the findings. A query is never repeated; no query: the search is complete. */
struct query_plan {
    struct text queries[EXTRACT_PARTS_MAX], gaps[EXTRACT_PARTS_MAX];
    size_t query_count, gap_count;
};
void extract_query_plan(const struct extract *extract, size_t limit, struct query_plan *plan);

/* The strong words of a text in their original form, separated by a space; words of `without` are left out. */
struct text extract_keywords(struct arena *arena, struct text text, struct text without);

/* Calls the matching tools, with arguments that fit their schemas. False if no tool was called and `failure` is
 * empty, or if `failure` is filled. */
bool extract_call_tools(const struct extract *extract, struct answer *answer, struct failure *failure);

/* Whether a reply answers the question: ChatFinish.finding. */
struct finding {
    bool found;
    double confidence;      /* 0 to 1; 0: not computed */
    struct text looked_for; /* if not found */
};

/* Writes the answer from the evidence, or that no answer was found. `finding` is zero before. False if memory is
 * exhausted. */
bool extract_reply(const struct extract *extract, struct buffer *out, struct finding *finding);

/* nothing.c: writes that no answer was found, and the words of the search. */
void extract_say_nothing(const struct extract *extract, struct buffer *out, struct finding *finding);

/* The length of a text up to the first stop text and the token limit. Returns the finish reason: "stop" or "length". */
const char *extract_cut(const Renga__V1__ChatRequest *request, const char *text, size_t *length);

/* The sentences of an answer, the best first, independently of their confidence. */
size_t extract_pick(const struct extract *extract, const struct evidence *evidence, const struct selection *selection,
                    struct picked picked[PICKED_MAX]);

/* confidence.c: the probability that the findings answer the question, 0 to 1; below the extract's least_confidence the
 * provider abstains. Computed from the scores of the search and the support by words: see the README. */
#define EXTRACT_ENOUGH 0.5
double extract_confidence(const struct extract *extract, const struct selection *selection);

/* `before` + `middle` + `behind`, in the arena. */
struct text text_joined(struct arena *arena, struct text before, struct text middle, struct text behind);

void text_print(struct buffer *out, struct text text);

/* Without white space at its ends. */
struct text text_trimmed(struct text text);
struct text text_of(const char *bytes);
bool text_equal(struct text one, struct text other);

/* fence.c: the last top-level <tag>…</tag> of a text; length 0 and bytes NULL: not found. The inside of another tag
 * is not searched. */
struct text fence_find(const char *content, const char *tag);

/* doubles.c: what two nearly equal texts have in common. Two that contradict each other are not alike. */
#define EXTRACT_SKETCH_GROUPS 64
struct sketch {
    struct text text;
    uint32_t least[EXTRACT_SKETCH_GROUPS];
};
void extract_sketch(struct text text, struct sketch *sketch);
bool extract_sketches_alike(const struct sketch *one, const struct sketch *other);

/* passages.c: adds the text of a tool, or of <results>. */
void passages_add(struct extract *extract, struct text found);

#endif
