import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { updateRecords } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import {
  checkSelection,
  hasRecordId,
  objectOf,
  schemaId,
  schemaOf,
  selectionConfig,
  selectionOf,
  valuesByName,
} from './config.ts'

type Config = Readonly<Record<string, unknown>>

export const dataUpdateHandler: Handler = {
  names: ['data_update'],
  summary: 'Changes fields of records: of one by its id, or of all that the filters select.',
  result: 'for `recordId` the record, null when there is none; for `filters` `{ count, updated }`.',
  config: Type.Object(
    {
      schemaId,
      ...selectionConfig,
      fields: Type.Optional(valuesByName('the fields to change and their values')),
      add: Type.Optional(
        valuesByName(
          'numbers to add to fields, negative ones to take away: `{ stock: -1 }`. What the filters ask still holds at that moment, however many requests come at once',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  limitMs: null,
  check: (config) => [...checkSelection(config), ...checkChange(config)],
  async run(step, config) {
    const schema = schemaOf(step, config)
    const fields = objectOf(config, 'fields')
    const updated = await updateRecords(step.ctx, schema, selectionOf(config), fields, sumsOf(config))
    return hasRecordId(config) ? (updated[0] ?? null) : { count: updated.length, updated }
  },
}

function checkChange({ fields, add }: Config): ErrorDetail[] {
  if (fields === undefined && add === undefined)
    return [{ path: '', message: 'needs fields, or add: what is to be changed' }]
  return Object.keys(Object(add))
    .filter((name) => Object.hasOwn(Object(fields), name))
    .map((name) => ({ path: `add.${name}`, message: 'is in fields too: one of the two' }))
}

function sumsOf(config: Config): Record<string, number> {
  const sums = Object.entries(objectOf(config, 'add')).map(([name, value]): [string, number] => {
    if (typeof value !== 'number') throw new AppError('invalid', `add.${name} must be a number`)
    return [name, value]
  })
  return Object.fromEntries(sums)
}
