// Checks sets of resources (JSON on stdin, a list of lists) against the schemas of Kubernetes, as the npm package
// kubernetes-models has them: values by its validators, unknown fields by its types. One run of the compiler checks all sets.
// Prints a list (JSON) with the faults of each set, one a line.
import { spawnSync } from 'child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'fs'
import { join } from 'path'

const sets = JSON.parse(await new Promise(resolve => {
  let text = ''
  process.stdin.on('data', chunk => { text += chunk }).on('end', () => resolve(text))
}))
const place = apiVersion => `kubernetes-models/${apiVersion}`
const name = resource => `${resource.kind} ${resource.metadata.name}`
const faults = sets.map(() => [])
const all = sets.flatMap((resources, index) => resources.map(resource => ({ resource, index })))

for (const { resource, index } of all) {
  const tell = text => faults[index].push(`${name(resource)}: ${text}`)
  const models = await import(place(resource.apiVersion)).catch(() => ({}))
  const Model = models[resource.kind]
  if (!Model) {
    tell(`there is no ${resource.kind} in ${resource.apiVersion}`)
    continue
  }
  try {
    new Model(resource).validate()
  } catch (error) {
    tell(error.message)
  }
}

// One line a resource, so that a line's number tells whose fault it is.
const folder = mkdtempSync(join(import.meta.dirname, 'types-'))
try {
  const file = join(folder, 'resources.mts')
  writeFileSync(file, all.map(({ resource }) =>
    `(${JSON.stringify(resource)} satisfies ` +
    `import('${place(resource.apiVersion)}').I${resource.kind});\n`).join(''))
  const tsc = join(import.meta.dirname, '..', 'node_modules', '.bin', 'tsc')
  const { error, stdout } = spawnSync(tsc, ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022',
    '--pretty', 'false', '--typeRoots', folder, file], { encoding: 'utf8' })
  if (error) throw error
  for (const [, line, text] of stdout.matchAll(/\((\d+),\d+\): error TS\d+: (.*)/g)) {
    const { resource, index } = all[line - 1]
    faults[index].push(`${name(resource)}: ${text}`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
console.log(JSON.stringify(faults.map(lines => lines.join('\n'))))
