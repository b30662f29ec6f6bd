import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { AUDIT_ACTIONS } from '../logs/actions.ts'
import { EVENTS } from '../webhooks/events.ts'
import { UNDO } from './registry.ts'

/** Whoever audits a change says whether it can be undone, and in which words the log tells of it. */

const SRC = join(import.meta.dir, '../..')
const AUDITS = /db\/audit\.ts'|\baudit\(|\baboutChange\(|\brecord\(ctx/
const ACTION = /'([a-z][a-z_-]*\.[a-z][a-z_-]*)'/g
const NOT_ACTIONS: ReadonlySet<string> = new Set([
  ...EVENTS,
  'svc.db',
  'secret.key',
  'control.sock',
  'primary.id',
])

const sources = [...new Bun.Glob('{modules,server,cli}/**/*.ts').scanSync(SRC)].filter(
  (path) => !/\.(test|fixture|child)\.ts$|modules\/(undo|logs)\//.test(path),
)
const texts = await Promise.all(sources.map((path) => Bun.file(join(SRC, path)).text()))
const actions = new Set(
  texts
    .filter((text) => AUDITS.test(text))
    .flatMap((text) => [...text.matchAll(ACTION)].map(([, action = '']) => action))
    .filter((text) => !NOT_ACTIONS.has(text) && !/\.(json|yaml|ts|js|html|txt|toml|db-wal)$/.test(text)),
)

test('there are many actions, among them these', () => {
  expect(actions.size).toBeGreaterThan(70)
  for (const action of ['alias.move', 'session.open', 'certificate.fail', 'machine.primary', 'user.change'])
    expect(actions).toContain(action)
})

test.each([...actions].sort())('%s says whether it can be undone, and in which words', (action) => {
  expect(Object.keys(UNDO)).toContain(action)
  expect(Object.keys(AUDIT_ACTIONS)).toContain(action)
})
