/* Rewrites an answer for the node `cite`: each sentence is checked against the sources, and a sentence that they do not
 * carry is left out or marked. Headings, lists, tables, quotes and code keep their form. A heading is left out if its
 * section becomes empty. */
#ifndef RENGA_ORCHESTRATOR_CITE_TEXT_H
#define RENGA_ORCHESTRATOR_CITE_TEXT_H

#include "cite_sources.h"

#include "base/buffer.h"
#include "json/writer.h"

#define CITED_MAX      1000              /* sentences, as AgentResult.citations; more are taken as unsupported */
#define CITED_TEXT_MAX ((size_t)1 << 20) /* bytes of the text with its references */

enum cite_unsupported { CITE_KEEP, CITE_DROP, CITE_MARK };

/* Bytes of a text. */
struct cited_span {
    size_t begin, end;
};

/* The answer without links, reference marks and lists of references, in the arena of the sources; NULL: no memory.
 * *own_heading is the heading of the last list that was taken out, in `answer`; empty: no list. Linear. */
char *cite_clean(const struct cite_sources *sources, const char *answer, struct cited_span *own_heading);

/* The words of a heading's line without its marks, its number and a colon. */
struct cited_span cite_heading_words(const char *text, size_t begin, size_t end);

/* Behind the label of an answer at the beginning of a line, or 0: "Answer: ", 回答：. */
size_t cite_label_end(const char *line, size_t length);

/* Whether the sentence is a question: "Is it kept?", 保存されますか。 A mark such as [1] or a quote may follow. */
bool cite_is_question(const char *sentence, size_t length);

/* Whether the sentence, the last of a text, stops within a word that all sources continue: "used", されます. Another
 * form of a noun is no cut. Linear in the sources. */
bool cite_is_cut(const struct cite_sources *sources, const char *sentence, size_t length);

/* A sentence of a text. */
struct cite_sentence {
    const char *text;
    struct span span;
    int32_t number;     /* from 1 */
    uint16_t reference; /* from 1; 0: the text has no references */
};

/* A sentence that is carried. */
struct cited {
    size_t at; /* offset in the text */
    struct support support;
    uint16_t reference; /* from 1; 0: the text has no references */
};

/* All zero but for the first part. */
struct cite_text {
    const struct cite_sources *sources;
    struct evidence *evidence;
    enum cite_unsupported unsupported;
    const char *mark;     /* behind a sentence that is not carried, with CITE_MARK */
    bool has_references;  /* sentences get marks: [1] */
    bool footnotes;       /* ... [^1], and the references are their definitions */
    bool drops_questions; /* with CITE_DROP: a question is left out, as it states nothing */

    struct buffer out;
    struct cited *cited; /* CITED_MAX, in the order of the text */
    size_t cited_count;
    int32_t sentences;         /* that were looked at, each once */
    uint64_t said[CITE_SLOTS]; /* hashes of sentences that stay: with CITE_DROP each is said once */
    size_t said_count;
    uint16_t references[CITE_SOURCES_MAX]; /* of each source: its number */
    size_t first_of[CITED_MAX + 1];        /* of each reference: its first source */
    size_t reference_count;

    /* Private: output that waits for the next sentence that stays. */
    struct heading {
        int level; /* 0: no heading */
        struct cited_span line;
    } headings[8];
    size_t newlines;
    struct cited_span prefix;
    bool line_empty;
};

/* Writes `text`, as cite_clean gives it, into `out`. May be called again for the next text. */
void cite_text_write(struct cite_text *cite, const char *text);

/* Whether a source carries the sentence; *support says which. False beyond CITED_MAX sentences. */
bool cite_text_carries(const struct cite_text *cite, const char *sentence, size_t length, struct support *support);

/* The same of a row of a table, whose cells are words without a sentence: they are not compared in their order. */
bool cite_text_carries_row(const struct cite_text *cite, const char *row, size_t length, struct support *support);
/* Appends a sentence with its mark. `support` NULL: it is not carried. */
void cite_text_keep(struct cite_text *cite, const char *sentence, size_t length, const struct support *support);
/* Forgets which sentences were said: the next text may say them again. */
void cite_text_forget_said(struct cite_text *cite);

/* The lines of the quote if the snippet stands as in the file; else the lines of the whole hit. */
void cite_lines(const Renga__V1__SearchHit *hit, const struct span *quote, int32_t *from, int32_t *to);

/* Adds the list of references below a heading. */
void cite_text_write_references(struct cite_text *cite, const char *heading, size_t length);

/* Writes a Citation object for each sentence that is carried, in the order of `out`. Call it before the references
 * are added. False: no memory. */
bool cite_text_write_citations(struct json_writer *json, struct cite_text *cite);
/* The parts of the sources in which the quotes of the citations stand, each once, as SourcePassage; at most 256 KiB. */
bool cite_text_write_passages(struct json_writer *json, struct cite_text *cite);
/* Writes the Citation of a sentence. */
bool cite_write_citation(struct json_writer *json, const struct cite_sources *sources,
                         const struct cite_sentence *sentence, const struct support *support);

#endif
