import { chmodSync } from 'node:fs'
import { CommandFailure } from '../../src/cli/command.ts'
import { untilSignalled } from '../../src/cli/until-signalled.ts'
import { makeActions } from './actions.ts'
import { makeContainer } from './container.ts'
import { makeDeb } from './deb.ts'
import { makeExecutables } from './executables.ts'
import { makeInstallScript } from './install-script.ts'
import { makeManifest } from './manifest.ts'
import { makeNpm } from './npm.ts'
import { inPlaceOf } from './out-folder.ts'
import type { Artefact, Release } from './release.ts'
import { makeSums } from './sums.ts'

/** What is made of the executables. */
export const PACKAGES: readonly Artefact[] = [makeNpm, makeActions, makeDeb, makeContainer, makeInstallScript]

/** Each writes what the next ones read: the list of the files comes behind all files, their sums behind the list. */
const ARTEFACTS: readonly Artefact[] = [makeExecutables, makePackages, makeManifest, makeSums]

/** At once, since most of it is compression. It ends when all have, so that none writes into a folder that is removed. */
async function makePackages(release: Release): Promise<void> {
  const made = await Promise.allSettled(PACKAGES.map((make) => make(release)))
  for (const result of made) if (result.status === 'rejected') throw result.reason
}

/** Makes a release beside `out` and puts it there. Who interrupts it finds `out` as it was. */
export async function makeRelease(out: string, release: Omit<Release, 'out'>): Promise<void> {
  await untilSignalled((stop) =>
    inPlaceOf(out, async (folder) => {
      // A folder that mkdtemp made is for its owner only.
      chmodSync(folder, 0o755)
      for (const make of ARTEFACTS) {
        if (stop.aborted) throw new CommandFailure('it was interrupted, so nothing is made')
        await make({ ...release, out: folder })
      }
    }),
  )
}
