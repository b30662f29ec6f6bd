import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { ADMIN, EXECUTABLE, freePort, startAppliance } from './appliance.ts'
import { startAuthority } from './certificate-authority.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * What of docs/start.md is not run: it is the machine's (packages, accounts, systemd) or another machine's. In the place of
 * `systemctl enable` the server is started as the unit does it. The registrar's records are no command. The ways to get svc, which
 * stand before, are tried by the tests of scripts/release.
 */
const NOT_RUN = ['apt-get', 'useradd', 'chown', 'systemctl', 'journalctl', 'scp']

/** Folders of the machine, which the test has in a folder of its own. */
const OF_THE_MACHINE = /(?<=^|[\s="'])\/(etc|usr\/local\/bin|var\/lib|var\/backups)\//gm

/** Those behind the heading, or of the whole document. */
function blocksOf(file: string, heading?: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const part = heading === undefined ? text : (text.split(`\n${heading}\n`)[1] ?? '')
  return [...part.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
}

test('the commands of docs/start.md lead from nothing to a site with HTTPS and a backup that is good', async () => {
  test.setTimeout(180_000)
  const machine = mkdtempSync(join(tmpdir(), 'svc-start-'))
  const authority = await startAuthority()
  const [port, plainPort] = [await freePort(), await freePort()]
  authority.tell({ do: 'ask', port: plainPort })
  const proxy = await proxyTo(port)
  try {
    for (const folder of ['bin', 'etc/systemd/system', 'usr/local/bin', 'var/lib', 'var/backups', 'root'])
      mkdirSync(join(machine, folder), { recursive: true })
    copyFileSync(EXECUTABLE, join(machine, 'root/svc'))
    for (const name of NOT_RUN) script(join(machine, 'bin', name), 'exit 0')
    script(join(machine, 'bin/systemctl'), STARTS)
    const commands = blocksOf('docs/start.md', '## 1. Names')
      .join('\n')
      .replace(OF_THE_MACHINE, `${machine}/$1/`)
    const ran = await bash(commands, {
      cwd: join(machine, 'root'),
      env: {
        PATH: `${join(machine, 'bin')}:${join(machine, 'usr/local/bin')}:${process.env['PATH']}`,
        HOME: join(machine, 'root'),
        MACHINE: machine,
        HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
        CURL_CA_BUNDLE: authority.env['NODE_EXTRA_CA_CERTS'] ?? '',
        START_PORT: String(port),
        START_HTTP_PORT: String(plainPort),
        ...authority.env,
      },
    })
    expect(`${ran.output}\n${ran.exitCode}`).toMatch(/<h1>Hello<\/h1>[\s\S]*\n0$/)
    expect(existsSync(join(machine, 'var/backups/svc/first.tar'))).toBe(true)
    verifyUnit(machine)
  } finally {
    stopServer(machine)
    proxy.close()
    await authority.stop()
    rmSync(machine, { recursive: true, force: true })
  }
})

test('the commands of the README publish the example, and a folder by curl', async () => {
  const appliance = await startAppliance({ ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password })
  const folder = mkdtempSync(join(tmpdir(), 'svc-readme-'))
  try {
    const { key } = await (
      await appliance.asAdmin('POST', '/api/api-keys', { name: 'laptop', isGlobal: true })
    ).json()
    const [fromLaptop = '', byCurl = '', ...others] = blocksOf('README.md')
    expect(others).toEqual([])
    const settings = (fromLaptop.split('\n')[0] ?? '')
      .replace('http://localhost:3000', appliance.url)
      .replace('svc_…', key)
    expect(settings).toContain(key)
    mkdirSync(join(folder, 'dist'))
    symlinkSync(EXECUTABLE, join(folder, 'dist/svc'))
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'))
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
    const first = [settings, ...fromLaptop.split('\n').slice(1)].join('\n')
    const deployed = await bash(first, { cwd: folder, env })
    expect(deployed).toEqual({ exitCode: 0, output: expect.stringContaining('production--guestbook--acme') })

    rmSync(join(folder, 'dist/svc'))
    writeFileSync(join(folder, 'dist/index.html'), '<h1>Hello</h1>')
    const commit =
      'git init -q && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one'
    const sent = await bash([settings, commit, byCurl].join('\n'), { cwd: folder, env })
    expect(sent).toEqual({ exitCode: 0, output: expect.stringContaining('"alias"') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await appliance.stop()
  }
})

/** Starts the server with the settings of the document, on ports that are free, at an authority that is there. */
const STARTS = `[ "$1" = enable ] || exit 0
unset HTTPS_PROXY CURL_CA_BUNDLE
set -a; . "$MACHINE/etc/svc.env"; set +a
export DATA_DIR="$MACHINE/var/lib/svc" HOST=127.0.0.1 PORT="$START_PORT" HTTP_PORT="$START_HTTP_PORT"
"$MACHINE/usr/local/bin/svc" serve > "$MACHINE/log" 2>&1 &
echo $! > "$MACHINE/pid"
for n in $(seq 200); do curl -sf -o /dev/null "http://127.0.0.1:$HTTP_PORT/api/health" -H "Host: localhost" && exit 0; sleep 0.1; done
cat "$MACHINE/log"; exit 1`

function script(path: string, text: string): void {
  writeFileSync(path, `#!/bin/bash\n${text}\n`)
  chmodSync(path, 0o755)
}

async function bash(
  commands: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', commands], options)
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(child, 'exit')
  return { exitCode: child.exitCode, output: Buffer.concat(chunks).toString() }
}

/** Whoever asks it for any host gets the server: the names of the document lead nowhere else. */
async function proxyTo(port: number): Promise<{ port: number; close(): void }> {
  const server = createServer((client) => {
    client.once('data', () => {
      const there = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(there).pipe(client)
      })
      there.on('error', () => client.destroy())
    })
    client.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    close: () => void server.close(),
  }
}

function stopServer(machine: string): void {
  const file = join(machine, 'pid')
  if (existsSync(file)) process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM')
}

/** Where systemd is. The executable and the user of the unit are not there, which is all that it may say. */
function verifyUnit(machine: string): void {
  const unit = join(machine, 'etc/systemd/system/svc.service')
  const { error, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })
  if (error !== undefined) return
  const said = stderr.split('\n').filter((line) => line.includes('svc.service'))
  expect(said.filter((line) => !/is not executable|No such file|User=|not found/.test(line))).toEqual([])
}
