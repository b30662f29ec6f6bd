import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { executableName, type Platform, type Release } from './release.ts'
import { filesBelow, sha256Of, sizeOf } from './tree.ts'

export const MANIFEST = 'release.json'

export type Manifest = {
  version: string
  publishedAt: string
  commit: string | null
  notes: string
  publicKey: string
  /** `platform` is null for what is no executable. */
  files: { name: string; size: number; sha256: string; platform: Platform | null }[]
}

/** `release.json`: what is made, for programs. */
export async function makeManifest(release: Release): Promise<void> {
  const { version, publishedAt, commit, notes, publicKey, out } = release
  const platforms = new Map(release.platforms.map((platform) => [executableName(platform), platform]))
  const files: Manifest['files'] = []
  for (const name of filesBelow(out)) {
    const file = join(out, name)
    files.push({
      name,
      size: sizeOf(file),
      sha256: await sha256Of(file),
      platform: platforms.get(name) ?? null,
    })
  }
  const manifest: Manifest = { version, publishedAt, commit, notes, publicKey, files }
  writeFileSync(join(out, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
}
