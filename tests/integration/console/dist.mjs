// dist/ of the console is what its sources give, is small, and holds no text that only one language has.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { check, CONSOLE, ESBUILD, expect, finish, run } from './checks.mjs'

const FIRST_PAGE_MAX = 150 * 1024
const folder = mkdtempSync(join(tmpdir(), 'console-'))
const filesOf = place => readdirSync(place, { withFileTypes: true, recursive: true }).filter(one => one.isFile()).map(one => join(one.parentPath ?? one.path, one.name))

await check('dist/ is what build.sh makes of the sources', async () => {
  run(join(CONSOLE, 'build.sh'), folder)
  for (const path of filesOf(folder)) {
    const name = path.slice(folder.length + 1)
    expect(readFileSync(path).equals(readFileSync(join(CONSOLE, 'dist', name))), `${name} is older than its sources: run services/edge/console/build.sh`)
  }
  expect(filesOf(folder).length === filesOf(join(CONSOLE, 'dist')).length, 'dist/ has other files')
})

await check('the first page has at most 150 KB, compressed', async () => {
  const sizes = ['index.html', 'assets/console.js', 'assets/vendor.js', 'assets/console.css'].map(name => gzipSync(readFileSync(join(CONSOLE, 'dist', name)), { level: 9 }).length)
  const sum = sizes.reduce((a, b) => a + b, 0)
  expect(sum <= FIRST_PAGE_MAX, `${sum} bytes`)
  return `${(sum / 1024).toFixed(1)} KiB`
})

await check('the page has neither inline scripts nor inline styles', async () => {
  const page = readFileSync(join(CONSOLE, 'dist/index.html'), 'utf8')
  expect(!/<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle=|\son\w+=|javascript:/i.test(page), page)
})

async function catalogue(name) {
  const to = join(folder, name + '.mjs')
  run(ESBUILD, join(CONSOLE, 'src/words', name + '.js'), '--format=esm', '--outfile=' + to)
  return (await import(to))[name]
}
const [en, ja] = [await catalogue('en'), await catalogue('ja')]
const places = text => [...new Set(Object.values(typeof text === 'string' ? { text } : text).join(' ').match(/\{\w+\}/g) ?? [])].filter(one => one !== '{n}' && one !== '{count}').sort().join()

await check('Japanese and English have the same texts, with the same places for values', async () => {
  const missing = [...Object.keys(en).filter(id => !(id in ja)), ...Object.keys(ja).filter(id => !(id in en))]
  expect(!missing.length, missing)
  const other = Object.keys(en).filter(id => places(en[id]) !== places(ja[id]))
  expect(!other.length, other)
})

await check('every text that a module names is in the catalogue', async () => {
  const unknown = new Set()
  for (const path of filesOf(join(CONSOLE, 'src')).filter(one => one.endsWith('.js') && !one.includes('/words/')))
    for (const [, id] of readFileSync(path, 'utf8').matchAll(/\bt\('([\w.]+)'/g)) if (!(id in en) && !Object.keys(en).some(one => id.endsWith('.') || id.endsWith('_') ? one.startsWith(id) : false)) unknown.add(id)
  expect(!unknown.size, [...unknown])
})

await check('no module gives text to the page as HTML or as code', async () => {
  for (const path of filesOf(join(CONSOLE, 'src'))) {
    const found = readFileSync(path, 'utf8').match(/innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function/)
    expect(!found, `${path}: ${found}`)
  }
})

rmSync(folder, { recursive: true })
finish()
