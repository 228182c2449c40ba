// Checks as sentences, as in checks.py: `ok - <sentence>` or `not ok - <sentence>: <why>`.
const counts = { ok: 0, notOk: 0 }

export async function check(sentence, test) {
  try {
    const figure = await test()
    counts.ok++
    console.log(`ok - ${sentence}${figure ? ` (${figure})` : ''}`)
  } catch (error) {
    counts.notOk++
    console.log(`not ok - ${sentence}: ${error.message.replace(/\s+/g, ' ')}`)
  }
}

export function finish() {
  console.log(`# ${counts.ok} ok, ${counts.notOk} not ok`)
  process.exit(counts.notOk || !counts.ok ? 1 : 0)
}
