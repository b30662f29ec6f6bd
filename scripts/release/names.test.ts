import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PACKAGES } from './make.ts'
import { makeManifest } from './manifest.ts'
import type { Release } from './release.ts'
import { CONFIG, OTHER_NAMES, sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

/** release.config.json is the only place of names: what is made under other names has none of them. contract 19.1 */
let release: Release & { remove(): void }
const unpacked = mkdtempSync(join(tmpdir(), 'svc-names-'))
beforeAll(async () => {
  release = sampleRelease({ version: '7.8.9' })
  for (const make of [...PACKAGES, makeManifest]) await make(release)
  for (const path of filesBelow(release.out)) unpack(path)
})
afterAll(() => {
  release.remove()
  rmSync(unpacked, { recursive: true })
})

/** Beside what lies in the release already. */
function unpack(path: string): void {
  const file = join(release.out, path)
  const into = join(unpacked, path)
  if (path.endsWith('.tgz')) Bun.spawnSync(['sh', '-c', 'mkdir -p "$1" && tar -xzf "$0" -C "$1"', file, into])
  if (path.endsWith('.deb')) Bun.spawnSync(['dpkg-deb', '--raw-extract', file, into])
}

function textsOf(folder: string): [path: string, text: string][] {
  return filesBelow(folder)
    .filter((path) => !/\.(tgz|deb)$/.test(path))
    .map((path) => [path, readFileSync(join(folder, path), 'latin1')])
}

/** The package and the .deb are called as the command is, so that their names alone say nothing: where they are named as such. */
const formerNames = [
  `${CONFIG.npm.scope}/`,
  ...['npx', 'npm install', 'npm install -g'].map((before) => `${before} ${CONFIG.npm.package}`),
  `npmjs.com/package/${CONFIG.npm.package}`,
  `Package: ${CONFIG.deb}\n`,
  ...Object.values(CONFIG.actions),
  CONFIG.image,
  CONFIG.index,
]

test('no text of it has a name of before, or a placeholder that was not filled', () => {
  const texts = [...textsOf(release.out), ...textsOf(unpacked)]
  expect(texts.length).toBeGreaterThan(15)
  for (const [path, text] of texts)
    expect([
      path,
      formerNames.filter((name) => text.includes(name)),
      /(?<!\$)\{\{[a-z.]+\}\}/i.exec(text),
    ]).toEqual([path, [], null])
})

test('no file is named so', () => {
  const files = filesBelow(release.out).filter((path) => !path.startsWith('svc-'))
  expect(
    files.filter(
      (path) => path.startsWith(`npm/${CONFIG.npm.package}-`) || path.startsWith(`${CONFIG.deb}_`),
    ),
  ).toEqual([])
  expect(files).toContain(`npm/${OTHER_NAMES.npm.package}-7.8.9.tgz`)
})
