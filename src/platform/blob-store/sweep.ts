import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isSha256 } from '../../domain/names.ts'
import type { BlobPlaces } from './places.ts'

/**
 * Removes packs, files and temporary files that have no row and that this process is not writing: the leftovers of a
 * crash between rename and commit. Keeps files whose names do not look like ours.
 */
export async function sweepBlobs(
  places: BlobPlaces,
  isKnown: (name: { pack: string } | { sha256: string }) => boolean,
): Promise<number> {
  let removed = 0
  for (const name of await readdir(places.tmp)) {
    if (!name.startsWith('blob-') || places.isOwn(name)) continue
    await rm(join(places.tmp, name), { force: true })
    removed++
  }
  for (const name of await readdir(places.packs)) {
    const pack = /^(.+)\.pack$/.exec(name)?.[1]
    if (pack === undefined || places.isOwn(pack) || isKnown({ pack })) continue
    await rm(places.pack(pack), { force: true })
    removed++
  }
  for (const folder of await readdir(places.files)) removed += await sweepFolder(places, folder, isKnown)
  return removed
}

async function sweepFolder(
  places: BlobPlaces,
  folder: string,
  isKnown: (name: { sha256: string }) => boolean,
): Promise<number> {
  if (!/^[0-9a-f]{2}$/.test(folder)) return 0
  let removed = 0
  for (const sha256 of await readdir(join(places.files, folder))) {
    const isOurs = isSha256(sha256) && sha256.startsWith(folder)
    if (isOurs && !isKnown({ sha256 }) && (await places.removeUnpinned(sha256))) removed++
  }
  return removed
}
