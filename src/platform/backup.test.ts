import { afterAll, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { entry } from './archive/tar.fixture.ts'
import { type TarSource, tarEntries } from './archive/tar-write.ts'
import { BACKUP_END, BACKUP_FORMAT, BackupSum, writeBackup as writeTo } from './backup.ts'
import { fileTarget } from './backup-file.ts'
import { lockDataDir } from './instance-lock.ts'
import { fileSource, RestoreError, restoreBackup as restoreFrom } from './restore.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-backup-'))
const data = join(root, 'data')
const file = join(root, 'one.tar')
afterAll(() => rmSync(root, { recursive: true }))

const writeBackup = (dataDir: string, path: string, id: string) =>
  writeTo(dataDir, fileTarget(dataDir, path, id), id)
const restoreBackup = (path: string, into: string, id: string, options?: { stop: AbortSignal }) =>
  restoreFrom(fileSource(path), into, id, options)

let empty = ''
beforeEach(() => {
  empty = mkdtempSync(join(root, 'empty-'))
})

mkdirSync(join(data, 'blobs/packs'), { recursive: true })
mkdirSync(join(data, 'blobs/files/ab'), { recursive: true })
const large = `ab${'0'.repeat(62)}`
writeFileSync(join(data, 'blobs/packs/01.pack'), 'pack bytes')
writeFileSync(join(data, 'blobs/files/ab', large), 'file bytes')
writeFileSync(join(data, 'secret.key'), 'key')
const db = openDb(join(data, 'svc.db'), 1)
db.sqlite.run("INSERT INTO settings VALUES ('a', 'before', 1)")

test('a backup taken while the database is open restores everything', async () => {
  const { files } = await writeBackup(data, file, 'x')
  db.sqlite.run("UPDATE settings SET value = 'after'")
  expect(files).toBe(4)
  expect(readdirSync(root).filter((name) => name.includes('partial'))).toEqual([])
  expect(readdirSync(data).filter((name) => name.startsWith('backup-running'))).toEqual([])

  await restoreBackup(file, empty, 'y')
  expect(readdirSync(empty).sort()).toEqual(['blobs', 'secret.key', 'svc.db'])
  expect(readFileSync(join(empty, 'blobs/packs/01.pack'), 'utf8')).toBe('pack bytes')
  expect(readFileSync(join(empty, 'blobs/files/ab', large), 'utf8')).toBe('file bytes')
  const restored = openDb(join(empty, 'svc.db'), 2)
  expect(restored.sqlite.query('SELECT value FROM settings').get()).toEqual({ value: 'before' })
  restored.close()
})

test('a folder that cannot be listed fails the backup', async () => {
  const packs = join(data, 'blobs/packs')
  renameSync(packs, join(data, 'aside'))
  writeFileSync(packs, 'no folder')
  try {
    await expect(writeBackup(data, join(root, 'lacking.tar'), 'x')).rejects.toThrow('ENOTDIR')
    expect(existsSync(join(root, 'lacking.tar'))).toBe(false)
  } finally {
    rmSync(packs)
    renameSync(join(data, 'aside'), packs)
  }
})

test('only an earlier backup or an empty file is replaced', async () => {
  const other = join(root, 'other.db')
  writeFileSync(other, 'precious')
  const link = join(root, 'link.tar')
  symlinkSync(other, link)
  for (const path of [other, link, root])
    await expect(writeBackup(data, path, 'x')).rejects.toThrow('already exists and is not a backup')
  expect(readFileSync(other, 'utf8')).toBe('precious')
  const earlier = join(root, 'earlier.tar')
  writeFileSync(earlier, '')
  for (let round = 0; round < 2; round++) await writeBackup(data, earlier, 'x')
  await restoreBackup(earlier, empty, 'y')
})

test('contents without their database are not backed up', async () => {
  const lost = join(empty, 'data')
  mkdirSync(join(lost, 'blobs/packs'), { recursive: true })
  writeFileSync(join(lost, 'blobs/packs/01.pack'), 'pack bytes')
  writeFileSync(join(lost, 'svc.db'), '')
  await expect(writeBackup(lost, join(empty, 'lost.tar'), 'x')).rejects.toThrow('is missing or empty')
  expect(readdirSync(empty)).toEqual(['data'])
})

test.each(['backup-running', 'backup-running-b'])('the marker %s of another backup stays', async (name) => {
  const mark = join(data, name)
  writeFileSync(mark, '')
  await writeBackup(data, file, 'a')
  expect(existsSync(mark)).toBe(true)
  rmSync(mark)
})

test('certificates that are replaced during a backup are restored whole, old or new', async () => {
  const certs = join(data, 'certs')
  mkdirSync(certs)
  const texts = ['short\n', `${'long '.repeat(50_000)}\n`]
  let at = 0
  const replace = () => {
    writeFileSync(join(data, 'draft'), texts[at++ % 2] ?? '')
    renameSync(join(data, 'draft'), join(certs, 'host-a.example.json'))
  }
  replace()
  const timer = setInterval(replace, 1)
  try {
    for (let round = 0; round < 5; round++) {
      const into = mkdtempSync(join(root, 'certs-'))
      await writeBackup(data, join(root, 'certs.tar'), 'x')
      await restoreBackup(join(root, 'certs.tar'), into, 'y')
      expect(texts).toContain(readFileSync(join(into, 'certs/host-a.example.json'), 'utf8'))
    }
  } finally {
    clearInterval(timer)
    rmSync(certs, { recursive: true })
  }
})

test.each(['pack bytes', 'file bytes', 'before', 'svc-backup","version":1', 'sha256 '])(
  'one bit of "%s" that changed later is noticed',
  async (what) => {
    const whole = readFileSync(file)
    const at = whole.indexOf(what)
    expect(at).toBeGreaterThan(0)
    whole[at + 1] = (whole[at + 1] ?? 0) ^ 1
    const bad = join(root, 'bad.tar')
    writeFileSync(bad, whole)
    await expect(restoreBackup(bad, empty, 'z')).rejects.toThrow('is damaged')
    expect(readdirSync(empty)).toEqual([])
  },
)

test('a backup of a version that wrote no checksum is restored', async () => {
  const old = readFileSync(file)
  const header = old.indexOf('svc-backup.end')
  const size = new TextDecoder().decode(old.subarray(header + 124, header + 135))
  const sum = Number.parseInt(new TextDecoder().decode(old.subarray(header + 148, header + 154)), 8)
  const digits = (text: string) => [...text].reduce((total, digit) => total + Number(digit), 0)
  old.write('00000000000', header + 124)
  old.write((sum - digits(size)).toString(8).padStart(6, '0'), header + 148)
  const path = join(root, 'old.tar')
  writeFileSync(path, Buffer.concat([old.subarray(0, header + 512), Buffer.alloc(1024)]))
  await restoreBackup(path, empty, 'z')
  expect(readFileSync(join(empty, 'blobs/packs/01.pack'), 'utf8')).toBe('pack bytes')
})

test('a directory that is not empty is left unchanged', async () => {
  writeFileSync(join(empty, 'mine.txt'), 'x')
  await expect(restoreBackup(file, empty, 'y')).rejects.toThrow('is not empty')
  expect(readdirSync(empty)).toEqual(['mine.txt'])
})

const damage: [what: string, make: (path: string) => void][] = [
  ['not a backup', (path) => writeFileSync(path, 'hello')],
  ['an empty file', (path) => writeFileSync(path, '')],
  [
    'half a backup',
    (path) => {
      writeFileSync(path, readFileSync(file))
      truncateSync(path, 4096)
    },
  ],
  [
    'a backup without its end',
    (path) => {
      const whole = readFileSync(file)
      writeFileSync(
        path,
        Buffer.concat([whole.subarray(0, whole.indexOf('svc-backup.end')), Buffer.alloc(1024)]),
      )
    },
  ],
]

test.each(damage)('%s is rejected and leaves nothing behind', async (_what, make) => {
  const bad = join(root, 'bad.tar')
  make(bad)
  await expect(restoreBackup(bad, empty, 'z')).rejects.toThrow()
  expect(readdirSync(empty)).toEqual([])
})

test('an invalid file creates no folder either', async () => {
  const bad = join(root, 'bad.tar')
  writeFileSync(bad, 'hello')
  await expect(restoreBackup(bad, join(root, 'new', 'deep'), 'z')).rejects.toThrow()
  expect(existsSync(join(root, 'new'))).toBe(false)
  expect(existsSync(root)).toBe(true)
})

test('a file that does not exist is reported', async () => {
  await expect(restoreBackup(join(root, 'nothing.tar'), empty, 'z')).rejects.toThrow(
    'cannot be read as a backup',
  )
})

test('stray files among the contents break neither a backup nor a restore', async () => {
  const strays = [
    'blobs/packs/.DS_Store',
    'blobs/files/ab/desktop.ini',
    'blobs/Thumbs.db',
    'certs/my own.pem',
  ]
  mkdirSync(join(data, 'certs'))
  try {
    for (const path of strays) writeFileSync(join(data, path), 'stray')
    await writeBackup(data, join(root, 'stray.tar'), 'x')
    await restoreBackup(join(root, 'stray.tar'), empty, 'y')
    expect(readdirSync(join(empty, 'blobs'), { recursive: true }).sort()).toEqual(
      ['files', 'files/ab', `files/ab/${large}`, 'packs', 'packs/01.pack'].sort(),
    )
    expect(readdirSync(join(empty, 'certs'))).toEqual(['my own.pem'])
  } finally {
    for (const path of strays) rmSync(join(data, path))
    rmSync(join(data, 'certs'), { recursive: true })
  }
})

/** A backup as an earlier version, or somebody else, would write it. */
async function forged(names: readonly string[]): Promise<string> {
  const path = join(root, 'forged.tar')
  const sum = new BackupSum()
  const entries = [
    { name: BACKUP_FORMAT.name, content: BACKUP_FORMAT.content },
    { name: 'svc.db', content: readFileSync(join(data, 'svc.db')) },
    ...names.map((name) => ({ name, content: 'x' })),
  ]
  async function* sources(): AsyncGenerator<TarSource> {
    for (const { name, content } of entries) {
      const bytes = Buffer.from(content)
      yield { name, sizeBytes: bytes.length, body: sum.entry(name, bytes) }
    }
    const end = Buffer.from(sum.text())
    async function* once() {
      yield end
    }
    yield { name: BACKUP_END, sizeBytes: end.length, body: once() }
  }
  const out: Uint8Array[] = []
  for await (const chunk of tarEntries(sources())) out.push(Uint8Array.from(chunk))
  writeFileSync(path, Buffer.concat(out))
  return path
}

test('an earlier backup with a stray file is restored without it', async () => {
  await restoreBackup(await forged(['blobs/packs/.DS_Store', 'blobs/packs/a.pack']), empty, 'y')
  expect(readdirSync(join(empty, 'blobs/packs'))).toEqual(['a.pack'])
})

test.each([
  '../evil',
  '/tmp/evil',
  'evil',
  'certs',
  'certs/',
  'certs/../../evil',
  'certs/./a',
  'certs//a',
  'certs/a\\..\\b',
  'certs/a\n',
  'blobs/../../evil',
  'blobs/files/../../evil',
  'svc.db',
  'svc.db-wal',
])('%j in a backup changes nothing', async (name) => {
  const into = join(empty, 'data')
  await expect(restoreBackup(await forged([name]), into, 'y')).rejects.toBeInstanceOf(RestoreError)
  expect(readdirSync(empty)).toEqual([])
})

test('a hard link in a backup changes nothing', async () => {
  const path = await forged([])
  const bytes = readFileSync(path)
  const first = 512 + Math.ceil(BACKUP_FORMAT.content.length / 512) * 512
  const link = entry({ name: 'certs/a.pem', type: '1', link: 'svc.db' })
  writeFileSync(path, Buffer.concat([bytes.subarray(0, first), link, bytes.subarray(first)]))
  await expect(restoreBackup(path, join(empty, 'data'), 'y')).rejects.toThrow(
    '"certs/a.pem", which does not belong',
  )
  expect(readdirSync(empty)).toEqual([])
})

test.each([
  'svc.db-wal',
  'svc.db-shm',
  'serve.lock',
  'logs.db',
  'blobs/packs/x.tar',
  'blobs/x.tar',
  'tmp/x.tar',
  'link/x.tar',
])('a backup cannot be written to %s', async (path) => {
  const own = join(empty, 'data')
  await restoreBackup(await forged([]), own, 'y')
  for (const folder of ['blobs/packs', 'tmp', 'backups']) mkdirSync(join(own, folder), { recursive: true })
  symlinkSync('blobs/packs', join(own, 'link'))
  const before = readdirSync(own, { recursive: true }).sort()
  await expect(writeBackup(own, join(own, path), 'x')).rejects.toThrow(
    'is a place that the server uses itself',
  )
  expect(readdirSync(own, { recursive: true }).sort()).toEqual(before)
  await writeBackup(own, join(own, 'backups/x.tar'), 'x')
})

test('of two simultaneous restores into one directory, one completes and the other changes nothing', async () => {
  const other = await forged(['secret.key', 'certs/other.pem'])
  const done = await Promise.allSettled([
    restoreBackup(file, join(empty, 'data'), 'a'),
    restoreBackup(other, join(empty, 'data'), 'b'),
  ])
  expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const isFirst = done[0]?.status === 'fulfilled'
  expect(readdirSync(join(empty, 'data')).sort()).toEqual([
    ...(isFirst ? ['blobs'] : ['certs']),
    'secret.key',
    'svc.db',
  ])
})

test('a directory that a server is using is left alone', async () => {
  const lock = lockDataDir(empty)
  try {
    await expect(restoreBackup(file, empty, 'y')).rejects.toThrow('is in use by a server or another restore')
  } finally {
    lock?.release()
  }
  await restoreBackup(file, empty, 'y')
})

test('an aborted restore leaves nothing behind', async () => {
  const stopped = new AbortController()
  stopped.abort()
  const into = join(empty, 'data')
  await expect(restoreBackup(file, into, 'y', { stop: stopped.signal })).rejects.toThrow('it was interrupted')
  expect(readdirSync(empty)).toEqual([])
})
