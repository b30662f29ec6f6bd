import { afterEach, beforeEach, expect, test } from 'bun:test'
import { fstatSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HashedFile, hashFiles } from './manifest.ts'
import { tarStream } from './tar.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tar-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

function write(sizes: readonly number[]): Promise<HashedFile[]> {
  const found = sizes.map((size) => {
    const absolutePath = join(folder, `${size}`)
    writeFileSync(absolutePath, `${size},`.repeat(size).slice(0, size))
    return { path: `${size}`, absolutePath }
  })
  return hashFiles(found, () => {})
}

test('another reader finds every content under its hash', async () => {
  const chunk = 256 * 1024
  const files = await write([
    0,
    1,
    511,
    512,
    513,
    chunk - 512,
    chunk - 1024,
    chunk,
    chunk + 1,
    3 * chunk + 17,
  ])
  const counted = { bytes: 0, files: 0 }
  const stream = tarStream(files, (bytes, done) => {
    counted.bytes += bytes
    counted.files += done
  })

  const entries = await new Bun.Archive(await new Response(stream).bytes()).files()

  expect(new Set(entries.keys())).toEqual(new Set(files.map(({ sha256 }) => sha256)))
  for (const { sha256, absolutePath } of files)
    expect(await entries.get(sha256)?.bytes()).toEqual(await Bun.file(absolutePath).bytes())
  expect(counted).toEqual({ bytes: files.reduce((sum, { size }) => sum + size, 0), files: files.length })
})

test('a reader that leaves closes the file', async () => {
  const files = await write([1_000_000])
  const timesOpen = () => timesOpenAt(join(folder, '1000000'))
  const reader = tarStream(files, () => {}).getReader()
  await reader.read()
  expect(timesOpen()).toBe(1)
  await reader.cancel()
  expect(timesOpen()).toBe(0)
})

/** Of this file alone: what else the process has open changes at any time. */
function timesOpenAt(path: string): number {
  const { dev, ino } = statSync(path)
  return readdirSync('/dev/fd').filter((fd) => {
    try {
      const found = fstatSync(Number(fd))
      return found.dev === dev && found.ino === ino
    } catch {
      return false
    }
  }).length
}
