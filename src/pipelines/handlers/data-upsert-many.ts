import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type KeyedRecord, type Refused, upsertRecords } from '../../modules/records/upsert.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { Each } from '../language/handler.ts'
import { MAX_ITEMS } from '../language/handlers/data-upsert-many.ts'
import { charactersOf, plain } from '../language/json-text.ts'
import { TemplateTooLarge } from '../language/templates.ts'
import type { Runner, StepContext } from '../runner.ts'
import { objectOf, schemaOf } from './config.ts'

type Config = Readonly<Record<string, unknown>>

/** Elements that are worked out in one turn. */
const AT_ONCE = 200
/** The most characters of all records of a step. */
const MAX_CHARACTERS = 64 * 1024 * 1024

export const dataUpsertManyRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const schema = schemaOf(step, config)
    const keyField = String(config['dedupField'])
    const fields = new Set([...schema.fields.map(({ name }) => name), keyField])
    const items = itemsOf(config)
    const { records, refused } = await mapped(step, config, items, fields)
    const updateFields = namesOf(config['updateFields']).filter((name) => name !== keyField)
    const { insertedIds, updatedIds, skipped, errors } = await upsertRecords(step.ctx, schema, records, {
      keyField,
      updateFields,
    })
    const allErrors = [...refused, ...errors].sort((a, b) => a.index - b.index)
    return {
      inserted: insertedIds.length,
      updated: updatedIds.length,
      skipped,
      errored: allErrors.length,
      total: items.length,
      insertedIds,
      updatedIds,
      errors: allErrors,
    }
  },
}

/** Throws 400 for what is no list, and for one that is too long. */
function itemsOf(config: Config): unknown[] {
  const items = plain(config['items'])
  if (items === undefined || items === null) return []
  if (!Array.isArray(items)) throw new AppError('invalid', 'items must be a list')
  if (items.length <= MAX_ITEMS) return items
  throw new AppError(
    'invalid',
    `items has ${items.length} elements, and at most ${MAX_ITEMS} can be stored at once`,
  )
}

const namesOf = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : [])

/** Other requests go on meanwhile. Throws 413 if the records are too large together. */
async function mapped(
  { ctx }: StepContext,
  config: Config,
  items: readonly unknown[],
  fields: ReadonlySet<string>,
): Promise<{ records: KeyedRecord[]; refused: Refused[] }> {
  const records: KeyedRecord[] = []
  const refused: Refused[] = []
  let characters = 0
  for (const [index, item] of items.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn()
    const read = recordOf(config, item, fields, ctx.config.maxRecordBytes)
    if ('error' in read) refused.push({ index, error: read.error })
    else {
      records.push({ index, key: read.key, values: read.values })
      characters += read.characters
      if (characters > MAX_CHARACTERS) throw tooLarge()
    }
  }
  return { records, refused }
}

const tooLarge = () =>
  new AppError('too_large', `The records of the step have more than ${MAX_CHARACTERS} characters together`)

type Read = { key: string; values: Record<string, unknown>; characters: number } | { error: string }

/** Each expression is worked out once for the element. */
function recordOf(config: Config, item: unknown, fields: ReadonlySet<string>, maxBytes: number): Read {
  try {
    const record = objectOf({ map: valueFor(config['map'], item) }, 'map')
    const characters = charactersOf(record, maxBytes)
    if (characters > maxBytes) return { error: `The record has more than the ${maxBytes} bytes allowed` }
    const key = keyOf(valueFor(config['dedupKey'], item)) ?? hashOf(record)
    const known = Object.entries(record).filter(([name]) => fields.has(name))
    return { key, values: Object.fromEntries(known), characters: characters + key.length }
  } catch (error) {
    if (error instanceof TemplateTooLarge) return { error: error.message }
    throw error
  }
}

const valueFor = (value: unknown, item: unknown): unknown => (value instanceof Each ? value.of(item) : value)

/** The first that is not empty; null if all are. */
function keyOf(given: unknown): string | null {
  for (const value of [given].flat()) {
    const inner = plain(value) ?? ''
    const key = (typeof inner === 'object' ? JSON.stringify(inner) : String(inner)).trim()
    if (key !== '') return key
  }
  return null
}

const hashOf = (record: Record<string, unknown>): string =>
  `hash:${createHash('sha256')
    .update(JSON.stringify(sorted(record)))
    .digest('hex')}`

/** With the keys of all objects in order. */
function sorted(value: unknown): unknown {
  const inner = plain(value)
  if (Array.isArray(inner)) return inner.map(sorted)
  if (!isRecord(inner)) return inner
  return Object.fromEntries(
    Object.keys(inner)
      .sort()
      .map((key) => [key, sorted(inner[key])]),
  )
}
