import { benchAccounts } from './accounts.ts'
import { benchCdn } from './cdn.ts'
import { benchCompare } from './compare.ts'
import { benchDataUpsert } from './data-upsert.ts'
import { benchDeploy } from './deploy.ts'
import { benchFiles } from './files.ts'
import { benchFollowing } from './following.ts'
import { benchHosts } from './hosts.ts'
import { type Lab, missingTools, openLab, pinSelf } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import { isHeld, type Line, printLines } from './lib/report.ts'
import { benchMachines } from './machines.ts'
import { benchNeighbours } from './neighbours.ts'
import { benchNpm } from './npm.ts'
import { benchPages } from './pages.ts'
import { benchPaths } from './paths.ts'
import { benchPeople } from './people.ts'
import { benchPictures } from './pictures.ts'
import { benchPipelines } from './pipelines.ts'
import { benchProxy } from './proxy.ts'
import { benchReleaseChecks } from './release-checks.ts'
import { benchReport } from './report.ts'
import { benchRetention } from './retention.ts'
import { benchRollback } from './rollback.ts'
import { benchRouting } from './routing.ts'
import { benchRoutingMemory } from './routing-memory.ts'
import { benchSchedules } from './schedules.ts'
import { benchShipping } from './shipping.ts'
import { benchStart } from './start.ts'
import { benchStatic } from './static.ts'
import { benchStore } from './store.ts'
import { benchVersions } from './versions.ts'
import { benchWebhooks } from './webhooks.ts'
import { benchWrites } from './writes.ts'

type Bench = (lab: Lab, pace: Pace) => Promise<Line[]>

const BENCHES: Readonly<Record<string, Bench>> = {
  static: benchStatic,
  hosts: benchHosts,
  proxy: benchProxy,
  deploy: benchDeploy,
  pipelines: benchPipelines,
  'data-upsert': benchDataUpsert,
  files: benchFiles,
  schedules: benchSchedules,
  neighbours: benchNeighbours,
  start: benchStart,
  rollback: benchRollback,
  accounts: benchAccounts,
  pages: benchPages,
  paths: benchPaths,
  writes: benchWrites,
  retention: benchRetention,
  webhooks: benchWebhooks,
  cdn: benchCdn,
  versions: benchVersions,
  routing: benchRouting,
  'routing-memory': benchRoutingMemory,
  'release-checks': benchReleaseChecks,
  report: benchReport,
  shipping: benchShipping,
  following: benchFollowing,
  store: benchStore,
  machines: benchMachines,
  people: benchPeople,
  pictures: benchPictures,
  compare: benchCompare,
  npm: benchNpm,
}

const USAGE = `usage: npm run bench -- [--rounds N] [--seconds N] [${Object.keys(BENCHES).join('|')}]…
Ratios within one run; a ratio's bar is of the project, its aim what we would like. All benches without a name.
Set TMPDIR to measure another disk, and SVC_BASELINE to the executable of an earlier build for "paths", "writes", "versions",
"routing", "people" and "pictures".`

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const { names, pace } = parse(args)
  const unknown = names.filter((name) => !(name in BENCHES))
  if (unknown.length > 0 || !(pace.rounds >= 1) || !(pace.seconds >= 1)) return complain(USAGE)
  const missing = missingTools()
  if (missing !== undefined) return complain(missing)
  await pinSelf()
  const lines: Line[] = []
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue
    lines.push(...(await runOne(name, bench, pace)))
  }
  const judged = lines.map(isHeld).filter((held) => held !== undefined)
  console.log(`\n${judged.filter((held) => held).length} of ${judged.length} bars held`)
  return 0
}

async function runOne(name: string, bench: Bench, pace: Pace): Promise<Line[]> {
  const lab = openLab()
  const interrupted = () => void lab.close().then(() => process.exit(130))
  process.once('SIGINT', interrupted)
  try {
    const lines = await bench(lab, pace)
    printLines(name, lines)
    return lines
  } finally {
    process.off('SIGINT', interrupted)
    await lab.close()
  }
}

function parse(args: string[]): { names: string[]; pace: Pace } {
  const pace: Pace = { rounds: 5, seconds: 1 }
  const names: string[] = []
  for (let place = 0; place < args.length; place++) {
    const arg = args[place] ?? ''
    if (arg === '--rounds') pace.rounds = Number(args[++place])
    else if (arg === '--seconds') pace.seconds = Number(args[++place])
    else names.push(arg)
  }
  return { names, pace }
}

function complain(text: string): number {
  console.error(text)
  return 2
}
