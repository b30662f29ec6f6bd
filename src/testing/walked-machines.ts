import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STORE_KEYS } from './object-server.ts'
import { realStore } from './real-store.ts'
import { freePort, runSvc, type ServerProcess, startServer } from './server-process.ts'
import { until } from './until.ts'

const DOCS = join(import.meta.dir, '..', '..', 'docs')
const READER = { READER: 'svcreader', 'READER-SECRET': 'svcreadersecret' }
/** Already there. */
const EEXIST = 17
/** The addresses of the walk are in 10.0.0.0/24. */
const NETWORK = '127.0.0.'

export type MachineName = 'a' | 'b' | 'c' | 'd'
export const MACHINES: readonly MachineName[] = ['a', 'b', 'c', 'd']
const ADDRESSES = { a: 11, b: 12, c: 13, d: 14 }

/**
 * The machines of the walk in docs/scaling.md as processes on loopback addresses, with the settings and the HAProxy configuration
 * that stand there, on the real store.
 */
export class WalkedMachines {
  readonly lb: string
  readonly running = new Map<MachineName, ServerProcess>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-walk-'))
  readonly #port = freePort()
  readonly #guide = readFileSync(join(DOCS, 'scaling.md'), 'utf8')
  readonly #values: Record<string, string>
  #haproxy: Bun.Subprocess | undefined

  /** Without a base domain the admin is at `localhost`. */
  constructor(baseDomain: string | null = 'sites.example.com') {
    const lbPort = freePort()
    this.lb = `http://127.0.0.1:${lbPort}`
    const adminHost = baseDomain === null ? 'localhost' : `admin.${baseDomain}`
    this.#values = {
      'bind :443 ssl crt /etc/ssl/sites.example.com/both.pem alpn h2,http/1.1': `bind 127.0.0.1:${lbPort}`,
      'X-Forwarded-Proto https': 'X-Forwarded-Proto http',
      'BASE_DOMAIN=sites.example.com': baseDomain === null ? '' : `BASE_DOMAIN=${baseDomain}`,
      'https://admin.sites.example.com': `http://${adminHost}:${lbPort}`,
      'hdr(host) -i admin.sites.example.com': `hdr(host) -i ${adminHost}:${lbPort}`,
      'admin.sites.example.com': adminHost,
      // From one loopback address to another, all come from the first.
      '10.0.0.10/32': '127.0.0.1/32',
      'http://10.0.0.20:7480': realStore.endpoint,
      's3://svc/main': `s3://svc-${Bun.randomUUIDv7()}/main`,
      ...READER,
      'WRITER-SECRET': STORE_KEYS.secretKey,
      WRITER: STORE_KEYS.accessKey,
      '64-RANDOM-HEX-DIGITS': 'ab'.repeat(32),
      ':3000': `:${this.#port}`,
      '10.0.0.': NETWORK,
    }
  }

  dataDir(name: MachineName): string {
    return join(this.#folder, name)
  }

  /** As in /etc/svc.env of the machine. */
  settings(name: MachineName): Record<string, string> {
    const kind = name === 'a' || name === 'b' ? 'a' : 'c'
    const text = this.#block('ini', `# /etc/svc.env on ${kind}`)
      .replaceAll(`${NETWORK}${ADDRESSES[kind]}`, `${NETWORK}${ADDRESSES[name]}`)
      .replaceAll(`MACHINE_NAME=${kind}`, `MACHINE_NAME=${name}`)
    const lines = [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, key, value]) => [key, value] as const)
    const env: Record<string, string> = { ...Object.fromEntries(lines), PORT: String(this.#port) }
    return env['SECRET_KEY'] === undefined ? env : { ...env, SECRET_KEY: this.#secretKey() }
  }

  /** The server of before, without a store. */
  async startAlone(env: Record<string, string>): Promise<ServerProcess> {
    const { BASE_DOMAIN = '', PUBLIC_URL = '', TRUST_PROXY = '', HOST = '' } = this.#plain()
    const own = { BASE_DOMAIN, PUBLIC_URL, TRUST_PROXY, HOST, PORT: String(this.#port) }
    return this.#started('a', await startServer(this.dataDir('a'), { ...own, ...env }))
  }

  async start(name: MachineName, more: Record<string, string> = {}): Promise<ServerProcess> {
    return this.#started(name, await startServer(this.dataDir(name), { ...this.settings(name), ...more }))
  }

  /** Runs a command on the machine. */
  svc(name: MachineName, args: string[]): ReturnType<typeof runSvc> {
    return runSvc(args, { env: { ...this.settings(name), DATA_DIR: this.dataDir(name) } })
  }

  at(name: MachineName): ServerProcess {
    const found = this.running.get(name)
    if (found === undefined) throw new Error(`${name} does not run`)
    return found
  }

  /** `systemctl stop`. */
  async stop(name: MachineName): Promise<number> {
    const server = this.at(name)
    this.running.delete(name)
    server.signal('SIGTERM')
    return server.exited
  }

  /** The machine is gone, and its disk. */
  async destroy(name: MachineName): Promise<void> {
    const server = this.at(name)
    this.running.delete(name)
    server.signal('SIGKILL')
    await server.exited
    rmSync(this.dataDir(name), { recursive: true })
  }

  /** As docs/store/ceph.md says, of the user that the cluster has. */
  async makeReader(): Promise<void> {
    const guide = readFileSync(join(DOCS, 'store', 'ceph.md'), 'utf8')
    const commands = [...guide.matchAll(/^radosgw-admin (?:subuser|key) create .*$/gm)].map(([line]) => line)
    for (const command of commands) {
      const argv = this.#filled(command).split(' ')
      const child = Bun.spawn(argv, {
        env: { ...process.env, CEPH_CONF: realStore.conf },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      if (![0, EEXIST].includes(await child.exited)) throw new Error(command)
    }
  }

  async balance(): Promise<void> {
    const file = join(this.#folder, 'haproxy.cfg')
    writeFileSync(file, this.#block('haproxy', '# /etc/haproxy/haproxy.cfg'))
    this.#haproxy = Bun.spawn(['haproxy', '-db', '-f', file], { stdio: ['ignore', 'ignore', 'ignore'] })
    await until('HAProxy', () =>
      fetch(`${this.lb}/api/health`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
  }

  async end(): Promise<void> {
    this.#haproxy?.kill('SIGKILL')
    for (const server of this.running.values()) server.signal('SIGKILL')
    await Promise.all([this.#haproxy?.exited, ...[...this.running.values()].map(({ exited }) => exited)])
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #started(name: MachineName, server: ServerProcess): ServerProcess {
    this.running.set(name, server)
    return server
  }

  #plain(): Record<string, string> {
    return Object.fromEntries(
      [...this.#block('ini', '# /etc/svc.env on a').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, key, value]) => [
        key,
        value,
      ]),
    )
  }

  #secretKey(): string {
    const [line = ''] = readFileSync(this.#secretKeyFile, 'utf8').split('\n')
    return line
  }
  /** What the operator copied before `a` was lost. */
  get #secretKeyFile(): string {
    return join(this.#folder, 'secret.key')
  }
  keepSecretKey(key = readFileSync(join(this.dataDir('a'), 'secret.key'), 'utf8')): void {
    writeFileSync(this.#secretKeyFile, key)
  }

  /** A block of the guide, with the addresses of the test. */
  #block(language: string, first: string): string {
    const blocks = [...this.#guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    const [, , text] = blocks.find(([, kind, body]) => kind === language && body?.startsWith(first)) ?? []
    if (text === undefined) throw new Error(`docs/scaling.md has no block "${first}"`)
    return this.#filled(text)
  }

  #filled(text: string): string {
    return Object.entries(this.#values).reduce((filled, [from, to]) => filled.replaceAll(from, to), text)
  }
}
