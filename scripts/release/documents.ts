import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseReleaseConfig, type ReleaseConfig } from './config.ts'
import type { Release } from './release.ts'
import { filesBelow } from './tree.ts'

/** What a build does not read. `node_modules` is read where it is. */
const LEFT_OUT = [
  '.git',
  '.tools',
  'data',
  'dist',
  'node_modules',
  'playwright-report',
  'shots',
  'test-results',
]

/**
 * The documents in an executable name npm's package and the actions. In the repository, where nothing fills them in, they are written
 * with the names of docs/names.json. A release under other names is built of a copy whose documents have those.
 */
export async function withDocumentsOf(
  { root, config }: Pick<Release, 'root' | 'config'>,
  build: (root: string) => Promise<void>,
): Promise<void> {
  const written = writtenNames(root)
  if (namesOf(written).join() === namesOf(config).join()) return await build(root)
  const copy = mkdtempSync(join(tmpdir(), 'svc-release-sources-'))
  try {
    for (const name of readdirSync(root))
      if (!LEFT_OUT.includes(name)) cpSync(join(root, name), join(copy, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const path of filesBelow(join(copy, 'docs'))) {
      const file = join(copy, 'docs', path)
      if (path.endsWith('.md')) writeFileSync(file, inNames(readFileSync(file, 'utf8'), written, config))
    }
    await build(copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

export const writtenNames = (root: string): ReleaseConfig =>
  parseReleaseConfig({ ...JSON.parse(readFileSync(join(root, 'docs/names.json'), 'utf8')), publicKey: null })

/** A text that is written with some names, with others. The package is called as the command is: only what npm is told is its name. */
export function inNames(text: string, written: ReleaseConfig, config: ReleaseConfig): string {
  const to = namesOf(config)
  return namesOf(written).reduce(
    (result, name, place) => result.replace(FORMS[place]?.(RegExp.escape(name)) ?? '', () => to[place] ?? ''),
    text,
  )
}

const namesOf = ({ image, actions, npm, deb, index }: ReleaseConfig): string[] => [
  image,
  actions.upload,
  actions.rules,
  `${npm.scope}/`,
  npm.package,
  `${deb}_`,
  new URL('.', index).href,
]

/** How each of them is found, in the same order. */
const FORMS: readonly ((name: string) => RegExp)[] = [
  (image) => new RegExp(`\\b${image}\\b`, 'g'),
  (upload) => new RegExp(`(?<![\\w/.-])${upload}\\b`, 'g'),
  (rules) => new RegExp(`(?<![\\w/.-])${rules}\\b`, 'g'),
  (scope) => new RegExp(`(?<!\\w)${scope}`, 'g'),
  (name) => new RegExp(`(?<=\\b(?:npx|npm (?:install|i)(?: -\\S+)*) )${name}\\b`, 'g'),
  (deb) => new RegExp(`(?<![\\w-])${deb}(?=\\d+\\.\\d|V_|<)`, 'g'),
  (index) => new RegExp(index, 'g'),
]
