import { join } from 'node:path'
import { type Command, EXIT, type Io, parseFlags, printable, printableJson, UsageError } from './command.ts'
import { accountRemoval } from './install/account.ts'
import { type Host, type Machine, machineOf, requireSystemd, thisHost } from './install/machine.ts'
import { oneAtATime } from './install/one-at-a-time.ts'
import { rootIn } from './install/options.ts'
import { ENV_FILE, EXECUTABLE, UNIT_FILE, USER } from './install/paths.ts'
import { dataRemoval, fileRemoval, staying } from './install/removal.ts'
import { reloadStep, stopSteps } from './install/service.ts'
import { dataDirOf } from './install/settings.ts'
import { lineOf, type Result, type Step, take } from './install/step.ts'
import { findOwnUnit } from './install/unit-step.ts'

const USAGE = `usage: svc uninstall [--root DIR] [--dry-run] [--purge PATH] [--json]

Takes back what svc install made: stops and disables the service, and removes its unit and ${EXECUTABLE}. Settings, data
and the user ${USER} stay, and are named.

  --root DIR     what lies below DIR, without running anything; needs no root
  --dry-run      change nothing, and print what would be done
  --purge PATH   remove ${ENV_FILE}, the data directory and the user as well: PATH must be the data directory, exactly
                 as it is named. Backups elsewhere stay
  --json         print { steps: [{ what, path, state }] }: state is done, present (it stays) or would
Exit code: 0, also where nothing is installed; 1 refused, as for a unit that was changed by hand; 2 usage, or another PATH.`

type Options = { isDryRun: boolean; isJson: boolean; purge: string | undefined }

export const uninstallCommand: Command = uninstallOn(thisHost)

export function uninstallOn(host: () => Host): Command {
  return {
    summary: 'Remove the service that svc install made',
    usage: USAGE,
    async run(args, io) {
      const { values } = parseFlags({
        args,
        options: {
          root: { type: 'string' },
          'dry-run': { type: 'boolean', default: false },
          purge: { type: 'string' },
          json: { type: 'boolean', default: false },
        },
      })
      const root = rootIn(values.root)
      const machine = machineOf(host(), { io, name: 'uninstall', args, root })
      const options = { isDryRun: values['dry-run'], isJson: values.json, purge: values.purge }
      const work = () => uninstall(machine, options, io)
      await (options.isDryRun ? work() : oneAtATime(machine.root, io, work))
      return EXIT.ok
    },
  }
}

async function uninstall(machine: Machine, { isDryRun, isJson, purge }: Options, io: Io): Promise<void> {
  const dataDir = dataDirOf(machine)
  if (purge !== undefined) requireNamed(machine, dataDir, purge)
  const service = await serviceRemoval(machine)
  const rest = purge === undefined ? whatStays(machine, dataDir) : whatElseGoes(machine, dataDir)
  const isInstalled = [...service, ...(purge === undefined ? [] : rest)].some(({ isDone }) => !isDone)
  const results: Result[] = []
  await take([...service, ...rest], isDryRun, (result) => {
    results.push(result)
    if (!isJson) io.stdout.write(`${printable(lineOf(result))}\n`)
  })
  if (isJson) io.stdout.write(`${printableJson({ steps: results }, 2)}\n`)
  const say = (text: string) => (isJson ? io.stderr : io.stdout).write(`${printable(text)}\n`)
  if (!isInstalled) say('Nothing is installed.')
  else if (purge === undefined && rest.length > 0)
    say(`What is present stays; svc uninstall --purge ${dataDir} removes it too.`)
}

function requireNamed({ root }: Machine, dataDir: string, given: string): void {
  if (given !== dataDir && given !== join(root, dataDir))
    throw new UsageError(`--purge must name the data directory exactly, ${dataDir}; nothing was changed`)
}

/** The unit goes last, so that a run that was ended half-way is finished by the next. */
async function serviceRemoval(machine: Machine): Promise<Step[]> {
  const { run } = machine
  const hasUnit = findOwnUnit(machine) !== undefined
  if (run !== null && hasUnit) await requireSystemd(run)
  return [
    ...(run !== null && hasUnit ? stopSteps(machine, run) : []),
    fileRemoval(machine, 'executable', EXECUTABLE),
    fileRemoval(machine, 'unit', UNIT_FILE),
    ...(run !== null && hasUnit ? [reloadStep(machine, run)] : []),
  ].filter((step) => step !== undefined)
}

const whatStays = (machine: Machine, dataDir: string): Step[] => {
  const user = machine.run === null ? undefined : accountRemoval(machine, machine.run)
  return [
    staying(machine, 'settings', ENV_FILE),
    staying(machine, 'data', dataDir),
    user && { ...user, isDone: true },
  ].filter((step) => step !== undefined)
}

const whatElseGoes = (machine: Machine, dataDir: string): Step[] =>
  [
    dataRemoval(machine, dataDir),
    fileRemoval(machine, 'settings', ENV_FILE),
    machine.run === null ? undefined : accountRemoval(machine, machine.run),
  ].filter((step) => step !== undefined)
