import { expect, test } from 'bun:test'
import type { MachineView } from './model.ts'
import { machineWarnings } from './warnings.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const machine = (name: string, more: Partial<MachineView> = {}): MachineView => ({
  ...{ name, role: 'standby', url: null, version: '1', epoch: 2, number: 9, lagMs: 0 },
  ...{ lastSeenAt: '2026-11-20T12:00:00.000Z', cacheBytes: 0, cacheHits: 0, cacheMisses: 0, ...more },
})
const one = machine('one', { role: 'primary' })
const OLD = '2026-11-20T11:59:29.999Z'

const rows: [what: string, others: MachineView[], warnings: [kind: string, name: string][]][] = [
  ['a stand-by that is as new', [machine('two')], []],
  ['one machine', [], [['standby', 'one']]],
  ['a node is no stand-by', [machine('two', { role: 'node' })], [['standby', 'one']]],
  ['5 s behind', [machine('two', { lagMs: 5_000 })], []],
  ['over 5 s behind', [machine('two', { lagMs: 5_001 })], [['behind', 'two']]],
  ['another version', [machine('two', { version: '2' })], [['version', 'two']]],
  [
    'a silent stand-by is none, and what it said is old',
    [machine('two', { lastSeenAt: OLD, lagMs: 9_000, version: '2' })],
    [
      ['standby', 'one'],
      ['silent', 'two'],
    ],
  ],
]
test.each(rows)('%s', (_what, others, warnings) => {
  const found = machineWarnings([one, ...others], { now: NOW, hasSecret: true })
  expect(found.map(({ kind }) => kind as string)).toEqual(warnings.map(([kind]) => kind))
  for (const [i, [, name]] of warnings.entries()) expect(found[i]?.message).toContain(name)
})

test('nobody warns without a machine', () =>
  expect(machineWarnings([], { now: NOW, hasSecret: true })).toEqual([]))

test('without NODE_SECRET nobody is heard of, and the warning says so', () => {
  const messages = [true, false].map(
    (hasSecret) => machineWarnings([one], { now: NOW, hasSecret })[0]?.message,
  )
  expect(messages).toEqual([
    expect.stringContaining('until another machine is started'),
    expect.stringContaining('NODE_SECRET'),
  ])
})
