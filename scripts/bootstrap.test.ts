import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../src/testing/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-bootstrap-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ready = join(folder, 'ready')
const ended = join(folder, 'ended')
const server = join(folder, 'server.mjs')
const starter = join(folder, 'starter.mjs')
writeFileSync(
  server,
  `import { renameSync, writeFileSync } from 'node:fs'
  const [part, whole] = ${JSON.stringify([`${ended}.part`, ended])}
  process.on('SIGTERM', () => { writeFileSync(part, 'SIGTERM'); renameSync(part, whole); process.exit(0) })
  setInterval(() => {}, 1000)
  writeFileSync(${JSON.stringify(ready)}, '')`,
)
writeFileSync(
  starter,
  `import { become } from ${JSON.stringify(join(import.meta.dir, 'bootstrap.mjs'))}
  become(process.execPath, [${JSON.stringify(server)}])`,
)

const appears = (path: string) => until(path, () => existsSync(path))

test('what npm started ends with npm, although only the shell between is told', async () => {
  // Not the last command of the shell, which would take its place.
  const shell = Bun.spawn(['sh', '-c', `node ${starter}; true`], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await appears(ready)
  shell.kill('SIGTERM')
  await appears(ended)
  expect(readFileSync(ended, 'utf8')).toBe('SIGTERM')
})
