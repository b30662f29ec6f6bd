import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { dirname, join, relative } from 'node:path'
import { SCHEMA_NAME } from '../../domain/schema-fields.ts'
import { EXIT, type Io, printable, UsageError } from '../command.ts'
import { folderOfName, type RulesFlags } from './settings.ts'

/**
 * Writes a rule set that works: a form whose rule keeps what it gets, the schema, a test. Overwrites nothing. At a
 * terminal it asks for what was not said.
 */
export async function initRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const ask = flags.json ? undefined : io.ask
  const [given, ...others] = words
  const name = given ?? (await ask?.('Name of the rule set: '))?.trim()
  if (!name || others.length > 0) throw new UsageError('name one rule set')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    throw new UsageError(`"${name}" is no name for a folder: letters, digits, dots, hyphens and underscores`)
  const rule = flags.rule ?? ((await ask?.(`Rule [${RULE}]: `))?.trim() || RULE)
  const schema = flags.schema ?? ((await ask?.(`Schema [${SCHEMA}]: `))?.trim() || SCHEMA)
  if (!SCHEMA_NAME.test(schema)) throw new UsageError(`"${schema}" is no name of a schema`)
  const folder = folderOfName(io, name)
  const files = scaffold(name, schema, ruleFile(rule))
  const written: string[] = []
  const kept: string[] = []
  for (const [path, text] of files) {
    const absolute = join(folder, path)
    if (existsSync(absolute)) kept.push(path)
    else {
      mkdirSync(dirname(absolute), { recursive: true })
      writeFileSync(absolute, text, { flag: 'wx' })
      written.push(path)
    }
  }
  const shown = relative(io.cwd, folder)
  if (flags.json) io.stdout.write(`${JSON.stringify({ path: shown, written, kept })}\n`)
  else {
    for (const path of written) io.stdout.write(`wrote ${printable(join(shown, path))}\n`)
    for (const path of kept) io.stdout.write(`kept  ${printable(join(shown, path))}, which was there\n`)
    io.stdout.write(`next: svc rules test ${shown}\n`)
  }
  return EXIT.ok
}

const RULE = 'POST /api/messages'
const SCHEMA = 'messages'

/** `example`: a path that the rule takes, where its own folders do not say one. */
type RuleFile = { base: string; method: string; example: string | null }

/** `POST /api/messages` as the file of its rule. */
function ruleFile(rule: string): RuleFile {
  const [method = '', path = '', ...more] = rule.trim().split(/\s+/)
  const isMethod = METHODS.includes(method.toUpperCase())
  const isPath = /^(\/([A-Za-z0-9_~-][A-Za-z0-9._~-]*|\[(\.\.\.)?[A-Za-z_][\w-]*\]))+$/.test(path)
  if (!isMethod || !isPath || more.length > 0)
    throw new UsageError(`"${rule}" is no rule; it looks like "POST /api/messages"`)
  const example = path.includes('[') ? path.replaceAll(/\[[^\]]*\]/g, '1') : null
  return { base: `rules${path}/${method.toLowerCase()}`, method: method.toUpperCase(), example }
}

function scaffold(name: string, schema: string, { base, method, example }: RuleFile): Map<string, string> {
  const sent = method === 'GET' || method === 'HEAD' ? 'query' : 'json'
  const path = example === null ? '' : `path: ${example}\n      `
  return new Map([
    ['ruleset.yaml', `name: ${JSON.stringify(name)}\ndescription: What it is for\n`],
    [
      `schemas/${schema}.schema.yaml`,
      `name: ${JSON.stringify(schema)}
fields:
  - { name: email, type: email, required: true }
  - { name: text, type: text, required: true }
`,
    ],
    [
      `${base}.rule.yaml`,
      `description: Keeps what the form sends
pipeline:
  name: keep
  steps:
    - id: form
      handler: form_handler
      config:
        fields:
          email: { type: email, required: true }
          text: { type: string, required: true, max: 5000 }

    - id: record
      handler: data_create
      config:
        schemaId: $schema:${schema}
        fields:
          email: steps.form.email
          text: steps.form.text

    - id: answer
      handler: response_handler
      config:
        status: 201
        body: '{{{steps.record}}}'
`,
    ],
    [
      `${base}.rule.test.yaml`,
      `tests:
  - name: keeps what is good
    request:
      ${path}${sent}: { email: ann@example.com, text: Hello }
    expect:
      status: 201
      ${method === 'HEAD' ? '' : 'body: { email: ann@example.com, text: Hello }\n      '}records: { ${JSON.stringify(schema)}: 1 }

  - name: refuses what is not
    request:
      ${path}${sent}: { email: nobody }
    expect:
      status: 400
      records: { ${JSON.stringify(schema)}: 0 }
`,
    ],
  ])
}
