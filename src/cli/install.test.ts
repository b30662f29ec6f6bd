import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { configFlags } from '../config/config.ts'
import { VERSION } from '../release-info.ts'
import { isSecret } from './install/options.ts'
import { EXECUTABLE, UNIT_FILE } from './install/paths.ts'
import { isAsWritten } from './install/unit.ts'
import { SERVICE_UID, type TestMachine, testMachine } from './testing/install-fixture.ts'

const ENV = '/etc/svc.env'

let machine: TestMachine
/** The server that systemd would have started. */
let server: Bun.Server<undefined>
let health = { status: 'ok' }
let hasAdminUser = true
beforeEach(() => {
  health = { status: 'ok' }
  hasAdminUser = true
  machine = testMachine()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => Response.json(new URL(url).pathname === '/api/health' ? health : { hasAdminUser }),
  })
})
afterEach(async () => {
  await server.stop(true)
  machine.remove()
})

const install = (...flags: string[]) => machine.run(['install', ...flags])
const installHere = (...flags: string[]) => install('--port', String(server.port), ...flags)
/** Below a folder, as for an image. */
const installBelow = (...flags: string[]) => install('--root', machine.root, ...flags)
const statesOf = (out: string): Record<string, string> =>
  Object.fromEntries(
    (JSON.parse(out).steps as { what: string; state: string }[]).map(({ what, state }) => [what, state]),
  )

describe('on a machine with systemd', () => {
  test('makes all of it, starts it, and prints the set-up link', async () => {
    hasAdminUser = false
    machine.says(
      'log',
      'svc serves http://localhost\nSet up the first admin: http://localhost/setup?token=a%2Bb\n',
    )
    const { code, out, err } = await installHere('--base-domain', 'sites.example.com')
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n').slice(-2)).toEqual([
      'Set up the first admin: http://localhost/setup?token=a%2Bb',
      '',
    ])
    expect(machine.calls()).toEqual([
      'useradd --system --user-group --home-dir /var/lib/svc --shell /usr/sbin/nologin svc',
      'systemctl daemon-reload',
      'systemctl enable svc.service',
      'systemctl start svc.service',
    ])
    const modes = ['/var/lib/svc', EXECUTABLE, ENV, UNIT_FILE].map(machine.mode)
    expect(modes).toEqual(['700', '755', '600', '644'])
    expect(machine.text(EXECUTABLE)).toStartWith('the executable x')
    expect(machine.text(ENV)).toMatch(/^# .*\nPORT=\d+\nBASE_DOMAIN=sites\.example\.com\n$/)
    expect(machine.text(UNIT_FILE)).toStartWith(`# Written by svc install ${VERSION} sha256:`)
    expect(isAsWritten(Buffer.from(machine.text(UNIT_FILE)))).toBe(true)
  })

  test('a second run changes no byte and calls nothing', async () => {
    await installHere()
    const [before] = [machine.tree(), machine.calls()]
    const { code, out } = await installHere('--json')
    expect([code, machine.tree(), machine.calls()]).toEqual([0, before, []])
    expect(new Set(Object.values(statesOf(out)))).toEqual(new Set(['present']))
  })

  test('a change of settings alone restarts it', async () => {
    await installHere()
    machine.calls()
    const unit = machine.text(UNIT_FILE)
    const { code, out } = await installHere('--log-level', 'warn', '--json')
    expect([code, machine.calls()]).toEqual([0, ['systemctl restart svc.service']])
    expect(statesOf(out)).toMatchObject({
      settings: 'done',
      unit: 'present',
      executable: 'present',
      start: 'done',
    })
    expect([machine.text(UNIT_FILE), machine.text(ENV)]).toEqual([
      unit,
      expect.stringContaining('LOG_LEVEL=warn'),
    ])
  })

  test('--dry-run changes nothing and says what would be', async () => {
    const { code, out } = await installHere('--dry-run', '--backup-dir', '/backups')
    expect([code, machine.tree(), machine.calls()]).toEqual([0, {}, []])
    const lines = out
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 2).join(' '))
    expect(lines).toEqual(
      ['user', 'data', 'folder', 'executable', 'settings', 'unit', 'reload', 'enable', 'start'].map(
        (what) => `would ${what}`,
      ),
    )
  })

  test('--no-start leaves the start to the machine', async () => {
    const { code, out } = await installHere('--no-start', '--json')
    expect([code, machine.calls().slice(1)]).toEqual([
      0,
      ['systemctl daemon-reload', 'systemctl enable svc.service'],
    ])
    expect(Object.keys(statesOf(out))).not.toContain('start')
  })

  test('with --json the link does not stand in the way', async () => {
    hasAdminUser = false
    machine.says('log', 'http://localhost/setup?token=x\n')
    const { out, err } = await installHere('--json')
    expect(Object.keys(statesOf(out))).toEqual([
      'user',
      'data',
      'executable',
      'settings',
      'unit',
      'reload',
      'enable',
      'start',
    ])
    expect(err).toBe('Set up the first admin: http://localhost/setup?token=x\n')
  })

  const accounts: [passwd: string, group: string, calls: string[]][] = [
    ['svc:x:1:1::/home/svc:/bin/sh\n', 'svc:x:1:\n', []],
    ['svc:x:1:1::/home/svc:/bin/sh\n', 'users:x:1:svc\n', ['groupadd --system svc']],
    [
      'svcx:x:1:1::/:/bin/sh\n',
      'svc:x:1:\n',
      ['useradd --system --gid svc --home-dir /var/lib/svc --shell /usr/sbin/nologin svc'],
    ],
  ]
  test.each(accounts)('the accounts %j %j: %j', async (passwd, group, calls) => {
    machine.put('/etc/passwd', passwd.replace('1:1:', `${SERVICE_UID}:${SERVICE_UID}:`))
    machine.put('/etc/group', group)
    await installHere('--no-start')
    expect(machine.calls().filter((line) => !line.startsWith('systemctl'))).toEqual(calls)
  })

  test('a unit that was changed since systemd read it is read again', async () => {
    await installHere()
    machine.calls()
    machine.says('reload', 'yes')
    await installHere()
    expect(machine.calls()).toEqual(['systemctl daemon-reload'])
  })
})

describe('not well', () => {
  const log = Array.from({ length: 25 }, (_, index) => `line ${index + 1}\n`).join('')

  test('after 30 s: exit code 1 with the last 20 lines of its log', async () => {
    health = { status: 'error' }
    machine.says('log', log)
    const { code, err } = await installHere()
    expect(code).toBe(1)
    expect(err).toStartWith(
      `svc install: svc is installed, but http://127.0.0.1:${server.port} is not well: 200 {"status":"error"}\n`,
    )
    expect(err.split('\n').slice(2, -1)).toEqual(log.trim().split('\n').slice(5))
  })

  test.each(['failed', 'activating'])('the service is %s, and another server answers', async (state) => {
    machine.says('after-start', state)
    const { code, err } = await installHere()
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`the service is ${state}, and another server answers`),
    ])
  })
})

describe('refused, with nothing changed', () => {
  const rows: [
    why: string,
    flags: string[],
    given: Parameters<TestMachine['run']>[1],
    code: number,
    says: string,
  ][] = [
    [
      'no root',
      ['--port', '80', '--log-level', 'a b'],
      { host: { isRoot: false } },
      1,
      "install --port 80 --log-level 'a b'",
    ],
    ['another system', [], { host: { isLinux: false } }, 1, 'Linux with systemd'],
    ['from sources', [], { host: { executable: null } }, 1, 'npm run build'],
    ['of a package', [], { env: { SVC_MANAGED: 'deb' } }, 1, 'its package'],
    ['of an image', ['--root', 'x'], { env: { SVC_MANAGED: 'docker' } }, 1, 'its image'],
    ['of something else', [], { env: { SVC_MANAGED: 'snap' } }, 78, 'SVC_MANAGED is "snap"'],
    ['a word', ['now'], {}, 2, 'not "now"'],
    ['an unknown flag', ['--colour', 'red'], {}, 2, 'no flag --colour'],
    ['no root folder', ['--root', ''], {}, 2, '--root needs a folder'],
    ['a bad value', ['--port', 'many'], {}, 78, 'PORT is "many", but must be a whole number'],
    ['an empty value', ['--smtp-from', ''], {}, 78, 'SMTP_FROM'],
    ['settings that conflict', ['--tls', 'files'], {}, 78, 'TLS_CERT_FILE is missing'],
    [
      'a folder that no unit can name',
      ['--backup-dir', '/a\nExecStartPre=/bin/sh'],
      {},
      78,
      'control characters',
    ],
  ]
  test.each(rows)('%s', async (_, flags, given, code, says) => {
    const ran = await machine.run(['install', ...flags], given)
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(says)])
    expect([machine.tree(), machine.calls()]).toEqual([{}, []])
  })

  test('no systemd', async () => {
    machine.says('system', 'offline')
    const { code, err } = await install()
    expect([code, err, machine.tree()]).toEqual([1, expect.stringContaining('systemd does not run'), {}])
  })

  test('npm may have put it here', async () => {
    const ran = await machine.run(['install', '--root', machine.root], { env: { SVC_MANAGED: 'npm' } })
    expect(ran.code).toBe(0)
  })

  const named = [
    'SECRET_KEY',
    'ADMIN_PASSWORD',
    'SETUP_TOKEN',
    'METRICS_TOKEN',
    'CDN_TOKEN',
    'NODE_SECRET',
    'SMTP_URL',
    'OIDC_PROVIDERS',
    'STORE_SECRET_KEY',
  ]
  test.each(named)('%s as a flag', async (name) => {
    const flag = `--${name.toLowerCase().replaceAll('_', '-')}`
    const { code, err } = await installBelow(flag, 'hunter2')
    expect([code, err]).toEqual([2, expect.stringContaining(`write ${name}=… into /etc/svc.env`)])
    expect([err.includes('hunter2'), machine.tree()]).toEqual([false, {}])
  })

  test('every setting whose value is never shown is a secret, or an address', () => {
    const hidden = Object.entries(configFlags).filter(([, { isHidden }]) => isHidden)
    const names = hidden.map(([flag]) => flag.toUpperCase().replaceAll('-', '_'))
    expect(names.filter((name) => !isSecret(name)).sort()).toEqual([
      'BACKUP_DIR',
      'CDN_URL',
      'STORE_ENDPOINT',
      'STORE_URL',
    ])
  })

  test('a bad value in the file', async () => {
    machine.put(ENV, 'PORT=many\n', 0o600)
    const before = machine.tree()
    const { code, err } = await installBelow()
    expect([code, err, machine.tree()]).toEqual([78, expect.stringContaining('PORT is "many"'), before])
  })

  test.each([
    ['a zero byte', 'PORT=1\0\n', 'zero byte'],
    ['an open quote', "A='x\n", 'ends inside a quoted value'],
    ['a megabyte', 'A=1\n'.repeat(300_000), 'larger than'],
  ])('a file with %s', async (_, content, says) => {
    machine.put(ENV, content, 0o600)
    const before = machine.tree()
    const { code, err } = await installBelow('--port', '80')
    expect([code, err, machine.tree()]).toEqual([1, expect.stringContaining(says), before])
  })
})

describe('below a folder', () => {
  test('writes there, runs nothing and needs no root', async () => {
    const ran = await machine.run(['install', '--root', 'root', '--json', '--port', '80'], {
      host: { isRoot: false, root: '/nowhere' },
    })
    expect([ran.code, ran.err, machine.calls()]).toEqual([0, '', []])
    expect(JSON.parse(ran.out)).toEqual({
      steps: [
        { what: 'data', path: join(machine.root, 'var/lib/svc'), state: 'done' },
        { what: 'executable', path: join(machine.root, EXECUTABLE), state: 'done' },
        { what: 'settings', path: join(machine.root, ENV), state: 'done' },
        { what: 'unit', path: join(machine.root, UNIT_FILE), state: 'done' },
      ],
    })
    expect(machine.mode('/usr/local/bin')).toBe('755')
  })

  test('a folder that is not there is made, but not by --dry-run', async () => {
    const missing = join(machine.root, 'image')
    expect((await install('--root', missing, '--dry-run')).code).toBe(0)
    expect(existsSync(missing)).toBe(false)
    expect((await install('--root', missing)).code).toBe(0)
    expect(existsSync(join(missing, EXECUTABLE))).toBe(true)
  })

  test('two at once are one after the other', async () => {
    const args = ['install', '--port', String(server.port)]
    const runs = [args, [...args, '--log-level', 'warn']]
    const ran = await Promise.all(runs.map((one) => machine.run(one, { isTimed: true })))
    expect(ran.map(({ code }) => code)).toEqual([0, 0])
    expect(machine.calls().filter((line) => line.startsWith('useradd'))).toHaveLength(1)
    expect(machine.text(ENV).match(/^[A-Z_]+=.*$/gm)).toEqual([`PORT=${server.port}`, 'LOG_LEVEL=warn'])
    expect(Object.keys(machine.tree()).filter((path) => path.includes('partial'))).toEqual([])
  })

  test('what a run left that was killed is in nobody’s way', async () => {
    machine.put('/usr/local/bin/.svc.partial', 'half')
    machine.put('/etc/.svc.env.partial', 'half')
    expect((await installBelow()).code).toBe(0)
    expect(Object.keys(machine.tree()).filter((path) => path.includes('partial'))).toEqual([])
  })
})

describe('the settings file', () => {
  test('that is there keeps its bytes and is closed to others', async () => {
    machine.put(ENV, '# ours\r\nPORT=1\r\nMETRICS_TOKEN="a b"', 0o644)
    expect((await installBelow('--port', '80', '--base-domain', 'sites.example.com')).code).toBe(0)
    expect(machine.text(ENV)).toBe(
      '# ours\r\nPORT=80\r\nMETRICS_TOKEN="a b"\r\nBASE_DOMAIN=sites.example.com\r\n',
    )
    expect(machine.mode(ENV)).toBe('600')
  })

  test('without flags is not written', async () => {
    machine.put(ENV, 'PORT = 80', 0o600)
    const before = machine.tree('/etc')['svc.env']
    await installBelow()
    expect(machine.tree('/etc')['svc.env']).toBe(before ?? '')
  })

  test('the environment of whoever types the command is not that of the service', async () => {
    const ran = await machine.run(['install', '--root', machine.root], {
      env: { PORT: 'many', BASE_DOMAIN: 'x.example' },
    })
    expect([ran.code, machine.text(ENV)]).toEqual([0, expect.not.stringContaining('x.example')])
  })
})

describe('the unit', () => {
  test('has what the settings need', async () => {
    await installBelow(
      '--tls',
      'auto',
      '--base-domain',
      'sites.example.com',
      '--backup-dir',
      '/my backups/50%',
    )
    const unit = machine.text(UNIT_FILE)
    for (const line of [
      'ReadWritePaths="/my backups/50%%"',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
      'AmbientCapabilities=CAP_NET_BIND_SERVICE',
    ])
      expect(unit.split('\n')).toContain(line)
    expect(machine.mode('/my backups/50%')).toBe('700')
  })

  const changed: [how: string, change: (unit: string) => string][] = [
    ['a line', (unit) => unit.replace('Restart=always', 'Restart=no')],
    ['no first line', (unit) => unit.replace(/^.*\n/, '')],
    ['line ends', (unit) => unit.replaceAll('\n', '\r\n')],
    ['one byte', (unit) => `${unit} `],
    ['nothing left', () => ''],
  ]
  test.each(changed)('that was changed by hand stays: %s', async (_, change) => {
    await installBelow()
    machine.put(UNIT_FILE, change(machine.text(UNIT_FILE)))
    const [before, byHand] = [machine.tree(), machine.text(UNIT_FILE)]
    const { code, err } = await installBelow('--port', '80')
    expect([code, machine.tree()]).toEqual([1, before])
    expect(err).toContain(`${join(machine.root, UNIT_FILE)} was changed by hand`)
    expect(err).toContain('systemctl edit svc')
    expect((await installBelow('--port', '80', '--force')).code).toBe(0)
    expect(machine.text(`${UNIT_FILE}.before`)).toBe(byHand)
    expect(isAsWritten(Buffer.from(machine.text(UNIT_FILE)))).toBe(true)
  })

  test('of other settings is written anew', async () => {
    await installBelow('--backup-dir', '/backups')
    expect((await installBelow('--port', '80', '--backup-dir', '/var/lib/svc/backups')).code).toBe(0)
    expect(machine.text(UNIT_FILE)).not.toMatch(/^ReadWritePaths/m)
    expect(machine.text(UNIT_FILE)).toContain('\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n')
  })
})
