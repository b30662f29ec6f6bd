import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { checkSelection, schemaId, selectionConfig, valuesByName } from './config.ts'

type Config = Readonly<Record<string, unknown>>

export const dataUpdateHandler: Handler<'data_update'> = {
  names: ['data_update'],
  summary: 'Changes fields of one record by its id, or of all records that match the filters.',
  result:
    'with `recordId` the record, or null if there is none; with `filters` `{ count, updated }`, and `truncated: true` if there are more than fit into the 8 MiB of `updated`.',
  config: Type.Object(
    {
      schemaId,
      ...selectionConfig,
      fields: Type.Optional(valuesByName('the fields to change and their values')),
      add: Type.Optional(
        valuesByName(
          'numbers to add to fields, negative to subtract: `{ stock: -1 }`. The filters are checked at that very moment, even under many concurrent requests',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  check: (config) => [...checkSelection(config), ...checkChange(config)],
}

function checkChange({ fields, add }: Config): ErrorDetail[] {
  if (fields === undefined && add === undefined)
    return [{ path: '', message: 'needs fields or add, to say what to change' }]
  return Object.keys(Object(add))
    .filter((name) => Object.hasOwn(Object(fields), name))
    .map((name) => ({ path: `add.${name}`, message: 'is also in fields: use one of the two' }))
}
