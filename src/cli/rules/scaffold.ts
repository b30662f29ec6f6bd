import { METHODS } from 'node:http'
import { UsageError } from '../command.ts'

/**
 * The files of a working rule set, by their path in it: a form whose rule (`POST /api/messages`) stores what it gets, the
 * schema of the records, a test. Throws a `UsageError` if `rule` is not a rule.
 */
export function scaffold(name: string, rule: string, schema: string): Map<string, string> {
  const { base, method, example } = ruleFile(rule)
  const sent = method === 'GET' || method === 'HEAD' ? 'query' : 'json'
  const path = example === null ? '' : `path: ${example}\n      `
  return new Map([
    ['ruleset.yaml', `name: ${JSON.stringify(name)}\ndescription: What the site's forms send\n`],
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

/** `example`: a path that the rule matches, when its folders contain placeholders. */
type RuleFile = { base: string; method: string; example: string | null }

/** The rule file of `POST /api/messages`. Throws a `UsageError`. */
function ruleFile(rule: string): RuleFile {
  const [method = '', path = '', ...more] = rule.trim().split(/\s+/)
  const isMethod = METHODS.includes(method.toUpperCase())
  const isPath = /^(\/([A-Za-z0-9_~-][A-Za-z0-9._~-]*|\[(\.\.\.)?[A-Za-z_][\w-]*\]))+$/.test(path)
  if (!isMethod || !isPath || more.length > 0)
    throw new UsageError(`"${rule}" is no rule; it looks like "POST /api/messages"`)
  const example = path.includes('[') ? path.replaceAll(/\[[^\]]*\]/g, '1') : null
  return { base: `rules${path}/${method.toLowerCase()}`, method: method.toUpperCase(), example }
}
