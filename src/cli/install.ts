import { mkdirSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { VERSION } from '../release-info.ts'
import { type Command, EXIT, type Io, printable, printableJson } from './command.ts'
import { accountStep } from './install/account.ts'
import { executableStep } from './install/executable.ts'
import { folderStep, homeStep } from './install/folders.ts'
import { firstVisit, waitUntilWell } from './install/healthy.ts'
import { type Host, type Machine, machineOf, requireSystemd, thisHost } from './install/machine.ts'
import { oneAtATime } from './install/one-at-a-time.ts'
import { type InstallOptions, installOptions } from './install/options.ts'
import { ENV_FILE, EXECUTABLE, HOME, UNIT, UNIT_FILE, USER } from './install/paths.ts'
import { serviceSteps } from './install/service.ts'
import { foldersOf, settingsOfService } from './install/settings.ts'
import { lineOf, type Result, type Step, take } from './install/step.ts'
import { unitOf } from './install/unit.ts'
import { unitStep } from './install/unit-step.ts'

const USAGE = `usage: svc install [--root DIR] [--dry-run] [--no-start] [--force] [--json] [flags of svc serve]

Sets up this executable as a service of systemd, on Linux and as root: user and group ${USER}, ${HOME} (0700),
${EXECUTABLE}, the settings in ${ENV_FILE} (0600) and the unit ${UNIT_FILE}. Enables and
starts it, waits up to 30 s until it is well, and prints the set-up link. What is so already is left, so it can be run again:
with other flags, or from a newer executable, which the service is then restarted with.

A flag of svc serve becomes a line of ${ENV_FILE}; all other bytes of the file stay. Secrets are no flags here: write them
into the file. A port below 1024 and a BACKUP_DIR are let into the unit. For changes of your own: systemctl edit svc.

  --root DIR   write everything below DIR and run nothing: no user, no systemctl; needs no root
  --dry-run    change nothing, and print what would be done
  --no-start   do not start it; it starts with the machine
  --force      write the unit anew if it was changed by hand, and keep that one as ${UNIT}.before
  --json       print { steps: [{ what, path, state }] }: state is done, present or would
Exit code: 0; 1 refused, or not well, with the last lines of its log; 2 usage, or a secret as a flag; 78 a bad setting.`

export const installCommand: Command = installOn(thisHost)

export function installOn(host: () => Host): Command {
  return {
    summary: 'Set up this executable as a service of systemd',
    usage: USAGE,
    async run(args, io) {
      const options = installOptions(args)
      const machine = machineOf(host(), { io, name: 'install', args, root: options.root })
      if (machine.run !== null) await requireSystemd(machine.run)
      const work = () => install(machine, options, io)
      if (!options.isDryRun) mkdirSync(machine.root, { recursive: true })
      await (options.isDryRun ? work() : oneAtATime(machine.root, io, work))
      return EXIT.ok
    },
  }
}

async function install(machine: Machine, options: InstallOptions, io: Io): Promise<void> {
  const { config, folders, steps } = await planned(machine, options)
  const results: Result[] = []
  await take(steps, options.isDryRun, (result) => {
    results.push(result)
    if (!options.isJson) io.stdout.write(`${printable(lineOf(result))}\n`)
  })
  if (options.isJson) io.stdout.write(`${printableJson({ steps: results }, 2)}\n`)
  const say = (text: string) => (options.isJson ? io.stderr : io.stdout).write(`${printable(text)}\n`)
  const { run } = machine
  if (run === null && !options.isJson) say(leftToDo(folders))
  if (run !== null && !options.isDryRun && options.starts) {
    const address = await waitUntilWell(config, run, io)
    say((await firstVisit(address, run, io)) ?? `svc is well at ${address}`)
  }
}

/** systemd itself gives the home to the user of the service. */
function leftToDo(folders: readonly string[]): string {
  const owned = folders.length === 0 ? '' : `, chown ${USER}:${USER} ${folders.join(' ')}`
  return `Nothing was run: the machine of this folder still needs the user and group ${USER}${owned}, and systemctl enable ${UNIT}.`
}

/** Looks at everything before anything is changed. */
async function planned(
  machine: Machine,
  { given, isForced, starts }: InstallOptions,
): Promise<{ config: Config; folders: string[]; steps: Step[] }> {
  const { run } = machine
  const { config, step: settings } = settingsOfService(machine, given)
  const folders = foldersOf(config)
  const unit = unitStep(machine, await unitOf(VERSION, config, folders), isForced)
  const executable = executableStep(machine)
  const isChanged = [settings, unit, executable].some(({ isDone }) => !isDone)
  const steps = [
    ...(run === null ? [] : [accountStep(machine, run)]),
    homeStep(machine),
    ...folders.map((path) => folderStep(machine, path)),
    executable,
    settings,
    unit,
    ...(run === null ? [] : await serviceSteps(machine, run, { isNewUnit: !unit.isDone, isChanged, starts })),
  ]
  return { config, folders, steps }
}
