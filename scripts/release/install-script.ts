import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fill } from './fill.ts'
import type { Release } from './release.ts'

/** `install.sh`, with the public key and the address of the index in it. contract 19.2 */
export async function makeInstallScript(release: Release): Promise<void> {
  const file = join(release.out, 'install.sh')
  writeFileSync(file, fill(readFileSync(join(release.root, 'packages/install.sh'), 'utf8'), release))
  chmodSync(file, 0o755)
}
