import { expect, test } from 'bun:test'
import { holdsKey, keyOfAuthorization, sentKey } from './key-header.ts'

const KEY = `svc_${'x'.repeat(43)}`

const VALUES: [value: string, key: string | null, isHeld: boolean][] = [
  [`Bearer ${KEY}`, KEY, true],
  [`bearer ${KEY}`, KEY, true],
  [`BEARER   ${KEY}`, KEY, true],
  ['Bearer svc_', 'svc_', true],
  ['Bearer svcp_x', 'svcp_x', true],
  ['Basic YTpi,bearer svcp_x', null, true],
  ['Bearer svcq_x', null, false],
  ['Bearer svc_ä!', 'svc_ä!', true],
  [`Bearer\t${KEY}`, null, true],
  [`Bearer ${KEY} more`, null, true],
  [`Bearer ${KEY}, Bearer ${KEY}`, null, true],
  [`Basic YTpi, Bearer ${KEY}`, null, true],
  [`Basic YTpi,bearer ${KEY}`, null, true],
  [KEY, null, false],
  [`Token ${KEY}`, null, false],
  [`Basic ${KEY}`, null, false],
  [`Bearer${KEY}`, null, false],
  [`XBearer ${KEY}`, null, false],
  ['Bearer SVC_x', null, false],
  ['Bearer eyJhbGciOi.x.y', null, false],
  ['Bearer xsvc_1', null, false],
  ['Bearer', null, false],
  ['', null, false],
]

test.each(VALUES)('Authorization: %s', (value, key, isHeld) => {
  expect(keyOfAuthorization(value)).toBe(key)
  expect(holdsKey(value)).toBe(isHeld)
})

test('X-API-Key wins, whatever it is', () => {
  const authorization = `Bearer ${KEY}`
  expect(sentKey(new Headers({ authorization }))).toBe(KEY)
  expect(sentKey(new Headers({ authorization, 'x-api-key': 'other' }))).toBe('other')
  expect(sentKey(new Headers({ authorization, 'x-api-key': '' }))).toBe('')
  expect(sentKey(new Headers({ authorization: 'Basic x' }))).toBeNull()
})
