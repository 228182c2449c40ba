// Files that are dropped on a page, as {file, path}. A folder is read with the folders in it; readEntries gives its
// content in parts, and an empty part at the end.
const FILES_MAX = 20000

async function addEntry(entry, files) {
  if (files.length >= FILES_MAX || entry.name.startsWith('.')) return
  if (entry.isFile) {
    const file = await new Promise((read, failed) => entry.file(read, failed))
    files.push({ file, path: entry.fullPath.replace(/^\//, '') })
    return
  }
  const reader = entry.createReader()
  for (;;) {
    const part = await new Promise((read, failed) => reader.readEntries(read, failed))
    if (!part.length) return
    for (const one of part) await addEntry(one, files)
  }
}

export async function droppedFiles(entries) {
  const files = []
  for (const entry of entries) await addEntry(entry, files)
  return files
}

export const chosenFiles = list => [...list].map(file => ({ file, path: file.webkitRelativePath || file.name }))
