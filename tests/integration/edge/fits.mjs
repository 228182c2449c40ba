// Holds values against schemas of an OpenAPI document: {"document": ..., "values": [{"schema", "value", "of"}]} on stdin. Prints
// one line for each value that does not fit; exit 1 when there is one.
import Ajv2020 from 'ajv/dist/2020.js'
import { text } from 'node:stream/consumers'

const { document, values } = JSON.parse(await text(process.stdin))
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
ajv.addSchema(document, 'document')
const validators = new Map()
let faults = 0
for (const { schema, value, of } of values) {
  if (!validators.has(schema)) validators.set(schema, ajv.compile({ $ref: `document#/components/schemas/${schema}` }))
  const fits = validators.get(schema)
  if (fits(value)) continue
  faults++
  console.log(`${of}: ${schema}${fits.errors[0].instancePath} ${fits.errors[0].message}: ${JSON.stringify(value).slice(0, 300)}`)
}
process.exit(faults ? 1 : 0)
