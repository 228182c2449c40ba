// A name of a file from a title: neither signs that a file system has its own use for, nor such that turn the text around.
export const fileName = (name, end) => ([...name.replace(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, ' ').replace(/^[.\s]+/, '')].slice(0, 80).join('').trim() || 'renga') + end
