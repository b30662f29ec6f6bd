import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SERVICE_UID, type TestMachine, testMachine } from '../testing/install-fixture.ts'
import { ENV_FILE, EXECUTABLE, UNIT_FILE } from './paths.ts'

/** What root writes must not land where a link of somebody else leads. */
let machine: TestMachine
beforeEach(() => {
  machine = testMachine()
})
afterEach(() => machine.remove())

const installBelow = (...flags: string[]) => machine.run(['install', '--root', machine.root, ...flags])

test.each([ENV_FILE, UNIT_FILE, EXECUTABLE])('links in the place of %s are not followed', async (path) => {
  const outside = join(dirname(machine.root), 'outside')
  writeFileSync(outside, 'PORT=1\n', { mode: 0o644 })
  mkdirSync(dirname(join(machine.root, path)), { recursive: true })
  symlinkSync(outside, join(machine.root, path))
  const { code, err } = await installBelow('--port', '80', '--force')
  expect([code, err]).toEqual([1, expect.stringContaining(`${path} is a link`)])
  expect(readFileSync(outside, 'utf8')).toBe('PORT=1\n')
  expect(existsSync(join(machine.root, '/var/lib/svc'))).toBe(false)
})

test('links of root lead where they lead on that machine, and not out of its folder', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'))
  mkdirSync(join(machine.root, 'usr'))
  symlinkSync(`../../../../../..${outside}`, join(machine.root, 'usr/local'))
  symlinkSync(outside, join(machine.root, 'etc'))
  expect((await installBelow()).code).toBe(0)
  expect(existsSync(join(outside, 'svc.env')) || existsSync(join(outside, 'bin'))).toBe(false)
  expect(existsSync(join(machine.root, outside, 'bin/svc'))).toBe(true)
  rmSync(outside, { recursive: true })
})

test('links that anybody could have placed are not followed', async () => {
  mkdirSync(join(machine.root, 'usr/elsewhere'), { recursive: true })
  symlinkSync('elsewhere', join(machine.root, 'usr/local'))
  chmodSync(join(machine.root, 'usr'), 0o777)
  const { code, err } = await installBelow()
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('/usr/local is a link that another user could have placed'),
  ])
  expect(existsSync(join(machine.root, 'usr/elsewhere/bin'))).toBe(false)
})

test('links in a circle', async () => {
  symlinkSync('usr', join(machine.root, 'usr'))
  expect(await installBelow()).toMatchObject({ code: 1, err: expect.stringContaining('leads in a circle') })
})

test('a file of another user is written anew, since its owner could change it', async () => {
  await installBelow()
  const isOther = SERVICE_UID !== process.getuid?.()
  for (const path of [EXECUTABLE, ENV_FILE, UNIT_FILE]) {
    chownSync(join(machine.root, path), SERVICE_UID, SERVICE_UID)
    const { out } = await installBelow('--json')
    const states = JSON.parse(out).steps.filter((step: { path: string }) => step.path.endsWith(path))
    expect(states).toMatchObject([{ state: isOther ? 'done' : 'present' }])
    expect(statSync(join(machine.root, path)).uid).toBe(process.getuid?.() ?? -1)
  }
})

test('a folder in the place of a file, a file in the place of a folder', async () => {
  mkdirSync(join(machine.root, ENV_FILE), { recursive: true })
  expect(await installBelow()).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${ENV_FILE} is no file`),
  })
  rmSync(join(machine.root, 'etc'), { recursive: true })
  machine.put('/usr', 'a file')
  expect(await installBelow()).toMatchObject({ code: 1, err: expect.stringContaining('ENOTDIR') })
})
