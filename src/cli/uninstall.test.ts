import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXECUTABLE, UNIT_FILE } from './install/paths.ts'
import { SERVICE_UID, type TestMachine, testMachine } from './testing/install-fixture.ts'

const ENV = '/etc/svc.env'
const DATA = '/var/lib/svc'

let machine: TestMachine
beforeEach(async () => {
  machine = testMachine()
  machine.put('/etc/passwd', `svc:x:${SERVICE_UID}:${SERVICE_UID}::${DATA}:/usr/sbin/nologin\n`)
  machine.put('/etc/group', `svc:x:${SERVICE_UID}:\n`)
  expect((await machine.run(['install', '--root', machine.root, '--port', '3000'])).code).toBe(0)
  machine.put(`${DATA}/blobs/packs/one`, 'content')
})
afterEach(() => machine.remove())

const uninstall = (...flags: string[]) => machine.run(['uninstall', ...flags])
const isThere = (path: string) => existsSync(join(machine.root, path))
const stepsOf = (out: string): string[] =>
  (JSON.parse(out).steps as { what: string; state: string }[]).map(({ what, state }) => `${what} ${state}`)

test('removes unit and executable; settings, data and user stay and are named', async () => {
  const { code, out, err } = await uninstall()
  expect([code, err]).toEqual([0, ''])
  expect(machine.calls()).toEqual([
    'systemctl stop svc.service',
    'systemctl disable svc.service',
    'systemctl daemon-reload',
  ])
  expect([EXECUTABLE, UNIT_FILE, ENV, `${DATA}/blobs/packs/one`].map(isThere)).toEqual([
    false,
    false,
    true,
    true,
  ])
  for (const [what, path] of [
    ['settings', ENV],
    ['data', DATA],
    ['user', '/etc/passwd'],
  ] as const)
    expect(out).toMatch(new RegExp(`^present +${what} +${machine.root}${path}$`, 'm'))
  expect(out).toContain('svc uninstall --purge /var/lib/svc removes it too')
})

test('where nothing is installed it says so, with exit code 0', async () => {
  await uninstall()
  machine.calls()
  const { code, out } = await uninstall()
  expect([code, machine.calls()]).toEqual([0, []])
  expect(out).toContain('Nothing is installed.')
  expect(await uninstall('--root', join(machine.root, 'missing'))).toMatchObject({ code: 0 })
  expect(isThere('missing')).toBe(false)
})

test('--purge with the exact path takes the rest', async () => {
  const { code, out } = await uninstall('--purge', DATA, '--json')
  expect(stepsOf(out)).toEqual([
    'stop done',
    'disable done',
    'executable done',
    'unit done',
    'reload done',
    'data done',
    'settings done',
    'user done',
  ])
  expect([code, machine.calls().slice(-2)]).toEqual([0, ['userdel svc', 'groupdel svc']])
  expect([EXECUTABLE, UNIT_FILE, ENV, DATA].map(isThere)).toEqual([false, false, false, false])
  expect(await uninstall('--purge', DATA)).toMatchObject({ code: 0, out: 'Nothing is installed.\n' })
})

test.each(['/var/lib', '/var/lib/svc/', '/var/lib/./svc', 'var/lib/svc', '', '/'])(
  '--purge %p is another path: exit code 2, nothing done',
  async (path) => {
    const before = machine.tree()
    const { code, err } = await uninstall('--purge', path)
    expect([code, err, machine.tree(), machine.calls()]).toEqual([
      2,
      expect.stringContaining('must name the data directory exactly, /var/lib/svc'),
      before,
      [],
    ])
  },
)

test('--purge names the data directory of the settings, which must be one', async () => {
  machine.put(ENV, 'DATA_DIR=/srv/sites\n', 0o600)
  machine.put('/srv/sites/photo', 'of somebody')
  expect((await uninstall('--purge', DATA)).code).toBe(2)
  expect(await uninstall('--purge', '/srv/sites')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no svc.db'),
  })
  expect(isThere(EXECUTABLE)).toBe(true)
  machine.put('/srv/sites/svc.db', '')
  expect((await uninstall('--purge', '/srv/sites')).code).toBe(0)
  expect(['/srv/sites', DATA].map(isThere)).toEqual([false, true])
})

test('--purge leaves what links in the data lead to', async () => {
  const outside = join(dirname(machine.root), 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'kept'), 'kept')
  symlinkSync(outside, join(machine.root, DATA, 'blobs/link'))
  symlinkSync(join(outside, 'kept'), join(machine.root, DATA, 'secret.key'))
  expect((await uninstall('--purge', DATA)).code).toBe(0)
  expect([isThere(DATA), readFileSync(join(outside, 'kept'), 'utf8')]).toEqual([false, 'kept'])
})

test('--purge leaves the user of somebody else', async () => {
  machine.put('/etc/passwd', 'svc:x:1000:1000::/home/svc:/bin/sh\n')
  const { out } = await uninstall('--purge', DATA, '--json')
  expect([stepsOf(out).at(-1), machine.calls().at(-1)]).toEqual(['user present', 'systemctl daemon-reload'])
})

test('--dry-run changes nothing', async () => {
  const before = machine.tree()
  const { code, out } = await uninstall('--dry-run', '--purge', DATA, '--json')
  expect([code, machine.tree(), machine.calls()]).toEqual([0, before, []])
  expect(stepsOf(out).every((step) => step.endsWith(' would'))).toBe(true)
})

test('--root runs nothing and needs no root', async () => {
  const { code, out } = await machine.run(['uninstall', '--root', machine.root, '--json'], {
    host: { isRoot: false, root: '/nowhere' },
  })
  expect([code, machine.calls(), stepsOf(out)]).toEqual([
    0,
    [],
    ['executable done', 'unit done', 'settings present', 'data present'],
  ])
})

test('a unit that was changed by hand, or is a link, is left with everything else', async () => {
  machine.put(UNIT_FILE, `${machine.text(UNIT_FILE)}\n`)
  const before = machine.tree()
  const { code, err } = await uninstall()
  expect([code, machine.tree(), machine.calls()]).toEqual([1, before, []])
  expect(err).toContain('was changed by hand')
  expect(err).toContain('systemctl edit svc')
})

test('a link in the place of the executable is not ours', async () => {
  const other = join(machine.root, 'other')
  writeFileSync(other, '')
  await uninstall()
  symlinkSync(other, join(machine.root, EXECUTABLE))
  expect(await uninstall()).toMatchObject({ code: 0, out: expect.stringContaining('Nothing is installed.') })
  expect([isThere(EXECUTABLE), isThere('other')]).toEqual([true, true])
})

test.each([[['now']], [['--force']], [['--root', '']]])('usage: %j', async (flags) => {
  expect((await uninstall(...flags)).code).toBe(2)
})

test('needs root and systemd', async () => {
  expect(await machine.run(['uninstall'], { host: { isRoot: false } })).toMatchObject({
    code: 1,
    err: expect.stringContaining('sudo '),
  })
  machine.says('system', 'offline')
  expect(await uninstall()).toMatchObject({ code: 1, err: expect.stringContaining('systemd does not run') })
  expect(isThere(UNIT_FILE)).toBe(true)
  await uninstall('--root', machine.root)
  expect(await uninstall()).toMatchObject({ code: 0, out: expect.stringContaining('Nothing is installed.') })
})
