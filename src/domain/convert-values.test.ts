import { expect, test } from 'bun:test'
import { convertedFor } from './convert-values.ts'
import type { FieldType } from './field-types.ts'
import { checkRecordData, type SchemaField } from './schema-fields.ts'

const field = (type: FieldType): SchemaField => ({ name: 'f', type, required: false, unique: false })

/** What is stored, or null when it is refused. */
function stored(type: FieldType, value: unknown): unknown {
  const { data, errors } = checkRecordData([field(type)], convertedFor([field(type)], { f: value }))
  return errors.length > 0 ? 'refused' : data['f']
}

const AT = Date.UTC(2026, 10, 20, 12, 0, 0)

const cases: [type: FieldType, value: unknown, becomes: unknown][] = [
  ['number', '5', 5],
  ['number', ' -1.5e3 ', -1500],
  ['number', '.5', 0.5],
  ['number', '2026', 2026],
  ['number', '5 apples', 'refused'],
  ['number', '0x10', 'refused'],
  ['number', '1e999', 'refused'],
  ['number', 'Infinity', 'refused'],
  ['number', '', 'refused'],
  ['number', true, 'refused'],
  ['number', [5], 'refused'],
  ['integer', '5', 5],
  ['integer', '5.0', 5],
  ['integer', '5.5', 'refused'],
  ['integer', '9007199254740993', 'refused'],
  ['number', '2026-11-20T12:00:00.000Z', AT],
  ['integer', '2026-11-20T12:00:00.123Z', AT + 123],
  ['number', '2026-11-20T14:00:00+02:00', AT],
  ['number', '2026-11-20T12:00', AT],
  ['number', '2026-11-20', Date.UTC(2026, 10, 20)],
  ['number', '2026-02-30', 'refused'],
  ['number', '2026-11-20T25:00:00Z', 'refused'],
  ['integer', 'Fri, 20 Nov 2026 12:00:00 +0000', AT],
  ['integer', 'Fri, 20 Nov 2026 07:00:00 EST', AT],
  ['number', '20 Nov 2026 12:00 GMT', AT],
  ['number', 'fri,  20 nov 2026 13:30:00 +0130', AT],
  ['number', 'Tue, 1 Jul 2003 10:52:37 +0200', Date.UTC(2003, 6, 1, 8, 52, 37)],
  ['number', '30 Feb 2026 12:00:00 GMT', 'refused'],
  ['number', '20 Nov 2026 12:00:00 XYZ', 'refused'],
  ['number', '20 Nov 2026 12:00:00 +0160', 'refused'],
  ['number', '20 November 2026', 'refused'],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['boolean', 'True', 'refused'],
  ['boolean', ' true', 'refused'],
  ['boolean', '1', 'refused'],
  ['boolean', 'on', 'refused'],
  ['boolean', 1, 'refused'],
  ['date', '2026-11-20T23:30:00-02:00', '2026-11-21'],
  ['date', '2026-11-20T12:00:00.000Z', '2026-11-20'],
  ['date', '2026-11-20', '2026-11-20'],
  ['date', 'Fri, 20 Nov 2026 12:00:00 +0000', 'refused'],
  ['date', AT, 'refused'],
  ['datetime', AT, '2026-11-20T12:00:00.000Z'],
  ['datetime', -1, '1969-12-31T23:59:59.999Z'],
  ['datetime', 8.7e15, 'refused'],
  ['datetime', 8.6e15, 'refused'],
  ['datetime', Number.NaN, 'refused'],
  ['datetime', '1763640000000', 'refused'],
  ['datetime', '2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000Z'],
  ['datetime', '2026-11-20', 'refused'],
  ['string', 5, '5'],
  ['string', 0.1, '0.1'],
  ['text', false, 'false'],
  ['text', true, 'true'],
  ['string', { a: 1 }, 'refused'],
  ['string', ['a'], 'refused'],
  ['email', 5, 'refused'],
  ['url', true, 'refused'],
  ['json', '5', '5'],
  ['json', 'true', 'true'],
  ['json', { a: '5' }, { a: '5' }],
  ['number', null, null],
]

test.each(cases)('%s of %j is %j', (type, value, becomes) => {
  expect(stored(type, value)).toEqual(becomes)
})

test('what is no field of the schema is left as it is', () => {
  expect(convertedFor([field('number')], { g: '5', f: '5' })).toEqual({ g: '5', f: 5 })
})
