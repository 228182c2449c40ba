/* Private to extractive/: one request as the extractive provider sees it, and what it makes of it.
 *
 *      extract_read        what is asked, what was found, what was answered before: from the conversation
 *      extract_want        which of these it is, from the form of the answer and the tools that are offered
 *          extract_split, extract_judge, extract_queries     an object after the schema
 *          extract_call_tools                                calls of tools
 *          extract_reply                                     sentences of the evidence, or that there are none
 *      extract_cut         up to a stop text, or as long as it may be
 *
 * Everything is deterministic: the same request has the same answer. Memory is the call's arena; the texts of the
 * request are borrowed. What stands in turns of tools and in fences of data is looked up and quoted, and decides
 * nothing else. */
#ifndef RENGA_LLM_GATEWAY_EXTRACT_H
#define RENGA_LLM_GATEWAY_EXTRACT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "chat/answer.h"
#include "provider/provider.h"
#include "words/languages.h"
#include "words/selection.h"

#include <stdbool.h>
#include <stddef.h>

#define EXTRACT_ASKED_MAX    ((size_t)4096) /* bytes of a question that are looked at */
#define EXTRACT_PASSAGES_MAX 512
#define EXTRACT_RESULTS_MAX  64 /* subtasks of a final answer */
#define EXTRACT_PARTS_MAX    10

/* Bytes of somebody else's; no NUL behind. */
struct text {
    const char *bytes;
    size_t length;
};

/* A subtask that was worked on before the final answer. */
struct result {
    struct text subtask, answer;
    bool found; /* the answer is one */
};

/* What searches said themselves, 0 to 1: the best score, and how far it is ahead of the second and the fifth. */
struct found {
    bool scored; /* one said anything at all */
    double best, ahead_of_second, ahead;
};

struct extract {
    struct arena *arena;
    const Renga__V1__ChatRequest *request;
    bool japanese;          /* the question is read as Japanese, else as English */
    enum language language; /* of fixed texts */
    struct text asked;  /* the last <subtask>, else <question>, else the last user's text; trimmed, at most ASKED_MAX */
    struct text answer; /* of the last <answer>; length 0: none */
    struct text advice; /* of the last <advice> */
    struct text findings; /* of the last <findings> */
    struct passage passages[EXTRACT_PASSAGES_MAX];
    uint64_t hashes[EXTRACT_PASSAGES_MAX]; /* of their texts */
    size_t passage_count;
    struct found found;
    struct result results[EXTRACT_RESULTS_MAX];
    size_t result_count;
    bool tools_answered; /* a tool has answered since the user spoke last */
};

/* NULL where the arena has no room. */
struct extract *extract_read(struct arena *arena, const Renga__V1__ChatRequest *request);

/* Whether what is asked is in Japanese. */
bool extract_is_japanese(const Renga__V1__ChatRequest *request);

enum extract_want { WANT_REPLY, WANT_SPLIT, WANT_JUDGEMENT, WANT_QUERY_PLAN, WANT_QUERIES };

/* What is wanted after the form of the answer. `limit` is how many elements a list may have. False with
 * FAILED_PRECONDITION where it is a form that cannot be filled. */
bool extract_want(const struct extract *extract, enum extract_want *want, size_t *limit, struct failure *failure);

/* The parts of a question that can be looked up apart from each other, each understandable by itself: 1 to `limit`
 * (at most EXTRACT_PARTS_MAX). */
size_t extract_split(struct arena *arena, struct text question, bool japanese, size_t limit,
                     struct text parts[EXTRACT_PARTS_MAX]);

/* False for greetings and thanks alone, and for a text without any word. */
bool extract_asks(struct text question);

/* Judges the answer by what supports it and how much of what was asked it covers. `advice` is filled with one sentence
 * that names what is missing, or that nothing is. */
bool extract_judge(const struct extract *extract, struct buffer *advice);

/* Words to search for: what is asked, and its strong words alone. */
size_t extract_queries(const struct extract *extract, size_t limit, struct text queries[EXTRACT_PARTS_MAX]);

/* What to search for next: the parts of the question at first; after findings what they do not answer, and names that
 * they have and the question has not. Nothing is searched for twice; no query: nothing is left to search for. */
struct query_plan {
    struct text queries[EXTRACT_PARTS_MAX], gaps[EXTRACT_PARTS_MAX];
    size_t query_count, gap_count;
};
void extract_query_plan(const struct extract *extract, size_t limit, struct query_plan *plan);

/* The strong words of a text as they stand in it, a space between; words that stand in `without` are left out. */
struct text extract_keywords(struct arena *arena, struct text text, struct text without);

/* Calls the tools that fit, with arguments after their schemas. False where none was called and `failure` is empty, or
 * where it is filled. */
bool extract_call_tools(const struct extract *extract, struct answer *answer, struct failure *failure);

/* Whether a reply answers what was asked: ChatFinish.finding. */
struct finding {
    bool found;
    double confidence;      /* 0 to 1; 0: nothing was weighed */
    struct text looked_for; /* if not found */
};

/* Writes what the evidence says, or that it says nothing. `finding` is zero before. False where memory is out. */
bool extract_reply(const struct extract *extract, struct buffer *out, struct finding *finding);

/* nothing.c: writes that no answer was found, and the words that were looked for. */
void extract_say_nothing(const struct extract *extract, struct buffer *out, struct finding *finding);

/* How much of a text may be said: up to the first of the stop texts, and no more tokens than are allowed. Gives the
 * word for why it ends there: "stop" or "length". */
const char *extract_cut(const Renga__V1__ChatRequest *request, const char *text, size_t *length);

/* The sentences of an answer, the best first, whether or not they are enough. */
size_t extract_pick(const struct extract *extract, const struct evidence *evidence, const struct selection *selection,
                    struct picked picked[PICKED_MAX]);

/* confidence.c: how likely what was found answers what is asked, 0 to 1; below EXTRACT_ENOUGH nothing is answered. It
 * is made of what the search said and of the support by words: see the README. */
#define EXTRACT_ENOUGH 0.5
double extract_confidence(const struct extract *extract, const struct selection *selection);

/* `before` + `middle` + `behind`, in the arena. */
struct text text_joined(struct arena *arena, struct text before, struct text middle, struct text behind);

void text_print(struct buffer *out, struct text text);

/* Without white space at its ends. */
struct text text_trimmed(struct text text);
struct text text_of(const char *bytes);

/* fence.c: the last top-level <tag>…</tag> of a text; length 0 and bytes NULL: none. What is fenced in one tag is not
 * looked through for others. */
struct text fence_find(const char *content, const char *tag);

/* passages.c: adds what a tool has written, or what stands in <results>. */
void passages_add(struct extract *extract, struct text found);

#endif
