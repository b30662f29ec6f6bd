import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fill } from './fill.ts'
import type { Release } from './release.ts'
import { filesBelow } from './tree.ts'

/** Their folders, below `scripts/actions` as below `actions` of a release. */
const ACTIONS = ['upload', 'deploy-proxy-rules']

/** `actions/…`: each folder is the whole of a repository. contract 19.2 */
export async function makeActions(release: Release): Promise<void> {
  for (const action of ACTIONS) {
    const source = join(release.root, 'scripts/actions', action)
    for (const path of filesBelow(source).filter(isOfAction)) write(release, action, path, join(source, path))
    write(release, action, 'LICENSE', join(release.root, 'LICENSE'))
  }
}

/** Not tests, nor types. */
const isOfAction = (path: string): boolean => /^(?:action\.yml|README\.md|.*\.mjs)$/.test(path)

function write(release: Release, action: string, path: string, from: string): void {
  const file = join(release.out, 'actions', action, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, fill(readFileSync(from, 'utf8'), release))
}
