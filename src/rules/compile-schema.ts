import { MAX_DESCRIPTION } from '../domain/description.ts'
import type { Problem } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import { parseSchemaFields, SCHEMA_NAME } from '../domain/schema-fields.ts'
import type { YamlFile } from '../domain/yaml-file.ts'
import { anything, Checker, text } from './checks.ts'
import { locate } from './locate.ts'
import type { CompiledPush } from './push.ts'

/** Whether the file is a schema, by its folder and name. */
export const isSchemaFile = (path: string): boolean => /^schemas\/[^/]+\.schema\.yaml$/.test(path)

export const schemaBase = (path: string): string => path.slice('schemas/'.length, -'.schema.yaml'.length)

export type SchemaSource = {
  path: string
  /** The file name without its extensions. */
  base: string
  schema: { name: string; fields: unknown[] }
  /** The field names in the file, including invalid ones; null if it has no list of fields. */
  fieldNames: string[] | null
}

const NAME = /^[^\s,\p{Cc}]([^,\p{Cc}]*[^\s,\p{Cc}])?$/u

/** `ruleset.yaml`. spec: Rules as code. */
export function compileManifest(yaml: YamlFile, problems: Problem[]): CompiledPush['ruleSet'] | null {
  const checker = new Checker(yaml)
  const given = checker.object(yaml.value, [], {
    name: (value) =>
      typeof value === 'string' && value.length <= 100 && NAME.test(value)
        ? null
        : 'must be a name of 1 to 100 characters without commas',
    description: text(MAX_DESCRIPTION),
    environment: text(),
  })
  if (given !== null && !('name' in given)) checker.report([], 'name is required')
  problems.push(...checker.problems)
  return given === null || checker.problems.length > 0 ? null : (given as CompiledPush['ruleSet'])
}

const FIELD_KEYS = ['name', 'type', 'required', 'unique', 'default']

/** `schemas/<name>.schema.yaml`. */
export function compileSchema(path: string, yaml: YamlFile, problems: Problem[]): SchemaSource[] {
  const base = schemaBase(path)
  const checker = new Checker(yaml)
  const given = checker.object(yaml.value, [], {
    name: (value) =>
      typeof value === 'string' && SCHEMA_NAME.test(value)
        ? null
        : 'must be 1 to 100 letters, digits, spaces, dots, hyphens and underscores',
    fields: anything,
  })
  if (given === null) {
    problems.push(...checker.problems)
    return [{ path, base, schema: { name: base, fields: [] }, fieldNames: null }]
  }
  if (given['name'] === undefined && !SCHEMA_NAME.test(base)) checker.report([], 'name is required')
  if (given['fields'] === undefined)
    checker.report([], 'fields is required: a list of { name, type, required }')
  else {
    const { fields, errors } = parseSchemaFields(given['fields'])
    for (const { path: at, message } of errors) checker.report(locate(given, at), `${at} ${message}`)
    checkFieldKeys(given['fields'], checker)
    const name = typeof given['name'] === 'string' ? given['name'] : base
    problems.push(...checker.problems)
    const schema = { name, fields: fields.map(plainField) }
    return [{ path, base, schema, fieldNames: namesOf(given['fields']) }]
  }
  problems.push(...checker.problems)
  return [{ path, base, schema: { name: base, fields: [] }, fieldNames: null }]
}

const namesOf = (fields: unknown): string[] | null =>
  Array.isArray(fields) ? fields.flatMap((one) => (isRecord(one) ? [String(one['name'])] : [])) : null

function checkFieldKeys(fields: unknown, checker: Checker): void {
  if (!Array.isArray(fields)) return
  for (const [i, field] of fields.entries()) {
    if (!isRecord(field)) continue
    for (const key of Object.keys(field))
      if (!FIELD_KEYS.includes(key)) checker.unknownKey(['fields', i, key], FIELD_KEYS)
  }
}

/** A field without the settings that equal their defaults. */
const plainField = ({
  name,
  type,
  required,
  unique,
  default: fallback,
}: ReturnType<typeof parseSchemaFields>['fields'][number]) => ({
  name,
  type,
  required,
  ...(unique ? { unique } : {}),
  ...(fallback === undefined ? {} : { default: fallback }),
})
