import { expect, test } from 'bun:test'
import { filterPairs, parseFilters } from './filters.ts'

const addresses: [address: string, filters: unknown[]][] = [
  ['page=2&sort=age&filters[x]=1', []],
  ['filter[name]=Ann', [{ field: 'name', op: 'eq', value: 'Ann' }]],
  ['filter[name]=', [{ field: 'name', op: 'eq', value: '' }]],
  [
    'filter[age][gte]=3&filter[age][lt]=9',
    [
      { field: 'age', op: 'gte', value: '3' },
      { field: 'age', op: 'lt', value: '9' },
    ],
  ],
  ['filter[name][like]=%25a,b%25', [{ field: 'name', op: 'like', value: '%a,b%' }]],
  ['filter[age][in]=1,%202,3', [{ field: 'age', op: 'in', value: ['1', '2', '3'] }]],
]

test.each(addresses)('%s is parsed, and formatted the same way', (address, filters) => {
  const parsed = parseFilters(new URLSearchParams(address))
  expect(parsed).toEqual(filters as typeof parsed)
  expect(parseFilters(new URLSearchParams(filterPairs(parsed)))).toEqual(parsed)
})

test.each(['filter[age][near]=1', 'filter[age][]=1', 'filter[age][__proto__]=1'])(
  '%s is refused',
  (address) => {
    expect(() => parseFilters(new URLSearchParams(address))).toThrow('must be one of eq, ne, gt')
  },
)
