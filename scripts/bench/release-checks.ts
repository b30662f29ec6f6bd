import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comparePublishes } from './lib/compare-publishes.ts'
import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import type { Published } from './lib/svc.ts'

const CHECKS = 50
const PAGE_BYTES = 1000

/** What the checks of a release add to its publish. */
export async function benchReleaseChecks(lab: Lab, pace: Pace): Promise<Line[]> {
  const name = `${CHECKS} checks on small pages`
  const added = { name, bytes: PAGE_BYTES, add: writeChecks, expectDone: expectPassed }
  return [await comparePublishes(lab, pace, added)]
}

function expectPassed({ release }: Published): void {
  if (release.status !== 'passed') throw new Error(`the checks ended as ${release.status}`)
}

/** Each asks for a page of a tree, and all of them hold. */
function writeChecks(site: string): void {
  mkdirSync(join(site, '.svc'))
  const checks = Array.from({ length: CHECKS }, (_, n) => {
    const page = n * 100
    return `  - { path: /part-${n}/page-${page}, contains: ' ${page}</title>', maxBytes: ${PAGE_BYTES} }\n`
  })
  writeFileSync(join(site, '.svc', 'checks.yaml'), `startPage: false\nchecks:\n${checks.join('')}`)
}
