import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { anyValue, schemaId, valuesByName } from './config.ts'
import { constantOf } from './words.ts'

export const MAX_ITEMS = 10_000

type Config = Readonly<Record<string, unknown>>

export const dataUpsertManyHandler: Handler<'data_upsert_many'> = {
  names: ['data_upsert_many'],
  summary:
    'Stores a list of records in one transaction, each once: an element whose key is stored already is left alone, or changed in `updateFields`. Of equal keys in a list the first counts; an element that is refused does not stop the others.',
  result:
    '`{ inserted, updated, skipped, errored, total, insertedIds, updatedIds, errors }`; `errors` is a list of `{ index, error }`.',
  config: Type.Object(
    {
      schemaId,
      items: anyValue(`the list, of at most ${MAX_ITEMS} elements, as an expression; null is an empty one`),
      map: valuesByName(
        'the value of each field, with the element as `steps.item`: `{ title: steps.item.title }`. A path that the element does not have leaves the field as it is, null empties it',
      ),
      dedupField: Type.String({
        description:
          'the field of the schema that keeps the key; `unique: true` there finds it without reading all records',
        minLength: 1,
      }),
      dedupKey: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })], {
        description:
          'the key of an element, such as `steps.item.guid`, or a list of which the first that is not empty is the key. If all are empty it is `hash:` and the SHA-256 of the record',
      }),
      updateFields: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'fields of `map` that are changed in a record that is stored already, where they differ',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: ([key]) => key === 'dedupField' || key === 'updateFields',
  forEach: ['map', 'dedupKey'],
  ownFields: ['dedupField'],
  check: (config) => [...checkMap(config), ...checkItems(config), ...checkUpdateFields(config)],
}

const checkMap = ({ map }: Config): ErrorDetail[] =>
  Object.keys(Object(map)).length === 0
    ? [{ path: 'map', message: 'must have at least one field, such as title: steps.item.title' }]
    : []

function checkItems({ items }: Config): ErrorDetail[] {
  const list = constantOf(items)
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) return [{ path: 'items', message: 'must be a list, such as steps.feed.entries' }]
  const message = `must have at most ${MAX_ITEMS} elements`
  return list.length > MAX_ITEMS ? [{ path: 'items', message }] : []
}

function checkUpdateFields({ map, dedupField, updateFields }: Config): ErrorDetail[] {
  const names: unknown[] = Array.isArray(updateFields) ? updateFields : []
  return names.flatMap((name, i) => {
    const path = `updateFields[${i}]`
    if (name === dedupField)
      return [{ path, message: 'is the dedupField, which finds the record and never changes' }]
    return Object.hasOwn(Object(map), String(name)) ? [] : [{ path, message: 'must be a field of map' }]
  })
}
