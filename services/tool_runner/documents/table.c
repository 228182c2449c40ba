#include "documents/table.h"

static bool table_find_column(const struct piece header[], size_t count, const char *const names[], size_t *column)
{
    for (*column = 0; *column < count; ++*column)
        for (const char *const *name = names; *name; name++)
            if (piece_is_word(piece_trim(header[*column]), *name))
                return true;
    return false;
}

bool table_has_pairs(const struct piece header[], size_t count, size_t *question, size_t *answer)
{
    static const char *const questions[] = {"question", "q", "質問", NULL}, *const answers[] = {"answer", "a", "回答",
                                                                                                NULL};
    return table_find_column(header, count, questions, question) && table_find_column(header, count, answers, answer);
}

void table_add_pair(struct document *document, unsigned level, struct table_cell question, struct table_cell answer,
                    bool has_lines)
{
    question.text = piece_trim(question.text);
    if (!question.text.length || !piece_trim(answer.text).length)
        return;
    document_add_heading(document, level, question.text, question.line);
    struct paragraph **link = document->last;
    (has_lines ? document_add_paragraph : document_add_placed)(document, answer.text, answer.line);
    for (struct paragraph *paragraph = *link; paragraph; paragraph = paragraph->next)
        paragraph->answer = true;
}
