import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './server-process.ts'
import { createTestCa } from './test-ca.ts'
import { until } from './until.ts'

/** Pebble and BIND of `npm run test:dns`. Each ends by `stop`. */
type Running = { port: number; stop(): Promise<void> }

function unpacked(): string {
  const folder = process.env['SVC_TEST_DNS']
  if (!folder) throw new Error('SVC_TEST_DNS is not set: npm run test:dns does it')
  return folder
}
const programAt = (path: string): string => join(unpacked(), 'usr', path)

export class RealServers {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-real-dns-'))
  readonly #running: Running[] = []

  async stop(): Promise<void> {
    for (const one of this.#running) await one.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** BIND, with these zones, which this key may update. Gives its port. */
  async named(zones: Record<string, string>, key: { algorithm: string; secret: string }): Promise<number> {
    const port = freePort()
    const cwd = this.#folderOf('named')
    const zoneOf = (name: string) =>
      `zone "${name}" { type primary; file "${name}.zone"; allow-update { key "svc-key"; }; };`
    const conf = `options { directory "${cwd}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion yes; pid-file "${cwd}/pid"; session-keyfile "${cwd}/session.key"; dnssec-validation no; };
      controls { };
      key "svc-key" { algorithm ${key.algorithm}; secret "${key.secret}"; };
      ${Object.keys(zones).map(zoneOf).join('\n')}\n`
    writeFileSync(join(cwd, 'named.conf'), conf)
    for (const [name, records] of Object.entries(zones))
      writeFileSync(
        join(cwd, `${name}.zone`),
        `$TTL 60\n@ SOA ns admin 1 60 60 60 1\n@ NS ns\nns A 127.0.0.1\n${records}\n`,
      )
    const libraries = readdirSync(programAt('lib')).map((name) => programAt(join('lib', name)))
    await this.#start([programAt('sbin/named'), '-g', '-c', join(cwd, 'named.conf')], 'running', port, {
      cwd,
      env: { LD_LIBRARY_PATH: libraries.join(':') },
    })
    return port
  }

  /** Pebble's name server of its tests. `manage` is where its records are set. */
  async challengeServer(): Promise<{ port: number; manage: string }> {
    const [port, management] = [freePort(), freePort()]
    const args = ['-dns01', `127.0.0.1:${port}`, '-management', `127.0.0.1:${management}`]
    const none = ['-http01', '', '-https01', '', '-tlsalpn01', '']
    const argv = [programAt('bin/pebble-challtestsrv'), ...args, ...none]
    await this.#start(argv, 'Starting management server', port)
    return { port, manage: `http://127.0.0.1:${management}` }
  }

  /** An authority that looks at this name server. Gives the settings that lead to it. */
  async pebble(
    dnsPort: number,
    more: object = {},
  ): Promise<{ env: Record<string, string>; root(): Promise<string> }> {
    const [port, management] = [freePort(), freePort()]
    const cwd = this.#folderOf(`pebble-${port}`)
    const ca = createTestCa()
    const { cert, key } = ca.issue({ names: ['127.0.0.1'] })
    for (const [name, text] of Object.entries({ cert, key, ca: ca.pem }))
      writeFileSync(join(cwd, `${name}.pem`), text)
    const pebble = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: 'cert.pem',
      privateKey: 'key.pem',
      httpPort: freePort(),
      tlsPort: freePort(),
      ...more,
    }
    writeFileSync(join(cwd, 'config.json'), JSON.stringify({ pebble }))
    const argv = [programAt('bin/pebble'), '-config', 'config.json', '-dnsserver', `127.0.0.1:${dnsPort}`]
    await this.#start(argv, 'ACME directory available', port, { cwd, env: { PEBBLE_VA_NOSLEEP: '1' } })
    const tls = { ca: ca.pem }
    return {
      env: { ACME_DIRECTORY: `https://127.0.0.1:${port}/dir`, NODE_EXTRA_CA_CERTS: join(cwd, 'ca.pem') },
      root: async () => (await fetch(`https://127.0.0.1:${management}/roots/0`, { tls })).text(),
    }
  }

  #folderOf(name: string): string {
    const path = join(this.folder, `${name}-${this.#running.length}`)
    mkdirSync(path)
    return path
  }

  async #start(
    argv: string[],
    ready: string,
    port: number,
    { cwd, env }: { cwd?: string; env?: Record<string, string> } = {},
  ): Promise<void> {
    const log = join(this.folder, `log-${port}`)
    const child = Bun.spawn(argv, {
      cwd: cwd ?? this.folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', Bun.file(log), Bun.file(`${log}-errors`)],
    })
    const stop = async () => {
      child.kill()
      await child.exited
    }
    this.#running.push({ port, stop })
    const said = async () =>
      (await Promise.all([log, `${log}-errors`].map((path) => Bun.file(path).text()))).join('')
    await until(`${argv[0]} to be ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${argv[0]} ended: ${await said()}`)
      return (await said()).includes(ready)
    })
  }
}
