import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { EXECUTABLE, programWith } from '../testing/program.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

/** These tests are about root. Where they run as somebody else, in a namespace whose root is that user, nobody else exists. */
const isRoot = process.getuid?.() === 0
const NOBODY = 65534
const ROOT = join(import.meta.dir, '../..')
const program = makeDataDir()
beforeAll(() => {
  if (!isRoot) return
  chmodSync(program.path, 0o755)
  if (EXECUTABLE !== undefined) return copyFileSync(EXECUTABLE, join(program.path, 'svc'))
  const outfile = relative(ROOT, join(program.path, 'svc'))
  const built = Bun.spawnSync([process.execPath, 'scripts/build.ts', '--outfile', outfile], { cwd: ROOT })
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
}, 60_000)
afterAll(program.remove)
const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

/** A folder of nobody. The one above is not writable for others, as usual. */
function folderOfNobody(): string {
  const data = makeDataDir()
  ended.push(data.remove)
  chmodSync(data.path, 0o755)
  const path = join(data.path, 'data')
  mkdirSync(path, { mode: 0o700 })
  chownSync(path, NOBODY, NOBODY)
  return path
}

function* below(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    yield path
    if (entry.isDirectory()) yield* below(path)
  }
}

/** What is not nobody's, or has another mode than one's own files. */
const wrong = (folder: string): string[] =>
  [...below(folder)].filter((path) => {
    const { uid, gid, mode } = lstatSync(path)
    return uid !== NOBODY || gid !== NOBODY || (mode & 0o077) !== 0
  })

const svc = (path: string, args: readonly string[], before: readonly string[] = []) =>
  runSvc([...args, '--data-dir', path], { stdin: 'correct horse battery\n', before })
/** Runs the executable in place of a program that may lie in a folder that is not for nobody. */
const asNobody = [
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  ...['sh', '-c', `cd / && program=$1 && shift ${1 + programWith().length} && exec "$program" "$@"`],
  ...['sh', join(program.path, 'svc')],
]
const withoutChown = ['setpriv', '--bounding-set=-chown', '--inh-caps=-chown']
const CHOWN = `chown -R ${NOBODY}:${NOBODY} `

const CREATE = ['admin', 'create', 'root@example.com']
type Row = [args: (path: string) => string[], code: number]
const COMMANDS: Row[] = [
  [() => ['admin', 'create', 'ann@example.com'], 0],
  [() => ['admin', 'reset-password', 'root@example.com'], 0],
  // Nobody has a second step here.
  [() => ['admin', 'reset-mfa', 'root@example.com'], 1],
  [() => ['key', 'create', 'ci'], 0],
  [() => ['key', 'rotate-secret'], 0],
  [() => ['check'], 0],
  [(path) => ['backup', join(path, 'all.tar')], 0],
]

async function stopped(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}

test('commands of root in the folder of another user leave nothing of root there, and that user can serve', async () => {
  if (!isRoot) return
  const path = folderOfNobody()
  expect([(await svc(path, CREATE)).code, existsSync(join(path, 'secret.key')), wrong(path)]).toEqual([
    0,
    true,
    [],
  ])
  for (const [args, code] of COMMANDS) {
    const done = await svc(path, args(path))
    expect([args(path), done.code, wrong(path)]).toEqual([args(path), code, []])
  }
  const copy = folderOfNobody()
  expect((await svc(copy, ['restore', join(path, 'all.tar')])).code).toBe(0)
  expect(wrong(copy)).toEqual([])
  await stopped(await startServer(copy, {}, asNobody))
}, 120_000)

test('a server of root there leaves nothing of root either, whatever is published', async () => {
  if (!isRoot) return
  const path = folderOfNobody()
  await svc(path, CREATE)
  const key = (await svc(path, ['key', 'create', 'ci'])).stdout.trim()
  const server = await startServer(path)
  const form = new FormData()
  const fields = { owner: 'acme', repo: 'docs', commitSha: 'a'.repeat(40), alias: 'live' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.append('file', new Blob(['small '.repeat(2000)]), 'index.html')
  form.append(
    'file',
    new Blob([crypto.getRandomValues(new Uint8Array(60_000)), new Uint8Array(3e6)]),
    'big.bin',
  )
  const headers = { 'x-api-key': key }
  const made = await fetch(`${server.url}/api/deployments`, { method: 'POST', headers, body: form })
  expect(made.status).toBe(201)
  await until('the reserve', () => existsSync(join(path, 'reserve')))
  expect(wrong(path)).toEqual([])
  await stopped(server)
  expect(wrong(path)).toEqual([])
}, 60_000)

test('a data directory that root makes belongs to the owner of the folder above, unless that is root', async () => {
  if (!isRoot) return
  const above = folderOfNobody()
  await svc(join(above, 'a', 'b'), CREATE)
  expect([existsSync(join(above, 'a', 'b', 'svc.db')), wrong(above)]).toEqual([true, []])
  const data = makeDataDir()
  ended.push(data.remove)
  await svc(join(data.path, 'own'), CREATE)
  expect(lstatSync(join(data.path, 'own', 'svc.db')).uid).toBe(0)
}, 60_000)

test('a root that may not give files away is told so before anything is changed', async () => {
  if (!isRoot) return
  const path = folderOfNobody()
  await svc(path, CREATE)
  await svc(path, ['backup', join(path, 'all.tar')])
  const seen = () => [...below(path)].map((one) => `${one} ${lstatSync(one).mtimeMs} ${lstatSync(one).size}`)
  const before = seen()
  for (const args of [...COMMANDS.map(([one]) => one(path)), ['serve', '--port', '0']]) {
    const { code, stderr } = await svc(path, args, withoutChown)
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining(`${CHOWN}${path}`)])
  }
  const empty = folderOfNobody()
  const restored = await svc(empty, ['restore', join(path, 'all.tar')], withoutChown)
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining(`${CHOWN}${empty}`)])
  expect([seen(), readdirSync(empty)]).toEqual([before, []])
}, 120_000)

const LOST = ['svc.db', 'secret.key', 'logs.db', 'serve.lock', 'blobs', 'blobs/packs', 'tmp']
test('a file that the server may not use stops its start with 78, and svc check names what is of root', async () => {
  if (!isRoot) return
  const path = folderOfNobody()
  await svc(path, CREATE)
  await stopped(await startServer(path))
  for (const name of LOST) {
    chownSync(join(path, name), 0, 0)
    const { code, stderr } = await svc(path, ['serve', '--port', '0'], asNobody)
    expect([name, code, stderr]).toEqual([
      name,
      78,
      expect.stringMatching(
        new RegExp(
          `${join(path, name)} belongs to root \\(uid 0\\), and this is nobody \\(uid ${NOBODY}\\).*${CHOWN}${path}`,
        ),
      ),
    ])
    const checked = await svc(path, ['check'])
    expect([name, checked.code, checked.stdout, checked.stderr]).toEqual([
      name,
      1,
      expect.stringContaining(`foreign_file: ${join(path, name)} belongs to root`),
      expect.stringContaining(`${CHOWN}${path}`),
    ])
    expect([
      (await svc(path, ['check'], asNobody)).code,
      (await svc(path, ['key', 'create', 'x'], asNobody)).code,
    ]).toEqual([1, 1])
    chownSync(join(path, name), NOBODY, NOBODY)
  }
  rmSync(join(path, 'reserve'))
  const { code, stdout, stderr } = await svc(path, ['check'])
  expect([code, stdout, stderr]).toEqual([
    0,
    'all is well\n',
    expect.stringMatching(/^note: there is no reserve/),
  ])
}, 180_000)
