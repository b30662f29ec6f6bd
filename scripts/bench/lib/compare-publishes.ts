import { commitOf, writeTree } from './content.ts'
import type { Lab } from './lab.ts'
import type { Pace } from './pace.ts'
import { untilQuiet } from './proc.ts'
import type { Line } from './report.ts'
import { interleave, median, ratios } from './stats.ts'
import { type Published, packed, publishArchive, startSvc } from './svc.ts'

const FILES = 5000
const VARIANTS_MS = 180_000

/** What is added to a folder of so many files of `bytes` each. */
type Added = {
  name: string
  bytes: number
  add: (folder: string) => void
  /** Throws if what was added did nothing. */
  expectDone?: (published: Published) => void
}

/** The time to publish a folder with something added, over that without. Contents are new in every round. */
export async function comparePublishes(lab: Lab, pace: Pace, added: Added): Promise<Line> {
  const { name, bytes, add, expectDone } = added
  const svc = await startSvc(lab)
  let turn = 0
  const timed = async (kind: 'with' | 'without'): Promise<number> => {
    const site = lab.folder('texts')
    turn += 1
    writeTree(site, FILES, bytes, turn)
    if (kind === 'with') add(site)
    const archive = await packed(site)
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    const start = performance.now()
    const published = await publishArchive(svc, archive, commitOf(turn))
    const took = performance.now() - start
    if (kind === 'with') expectDone?.(published)
    return took
  }
  const kinds = ['with', 'without'] as const
  for (const kind of kinds) await timed(kind)
  const results = await interleave(kinds, pace.rounds, timed)
  await svc.process.stop()
  const [more = [], less = []] = [results.get('with'), results.get('without')]
  return {
    name: `publish of ${FILES} files with ${name}, time`,
    measure: 'with/without',
    samples: ratios(more, less),
    bar: { atMost: 1.5, aim: 1.1 },
    detail: `${median(more).toFixed(0)} ms with, ${median(less).toFixed(0)} ms without`,
  }
}
