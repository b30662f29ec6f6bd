import { join } from 'node:path'
import type { Machine } from './machine.ts'
import { UNIT, UNIT_FILE } from './paths.ts'
import { type Run, requireRan } from './programs.ts'
import type { Step } from './step.ts'

/** What systemd says of the service, in its own words; empty where it says nothing. */
export const serviceState = async (run: Run): Promise<string> => said(run, 'is-active', UNIT)

/** What makes systemd run the service from now on. */
export async function serviceSteps(
  { root }: Machine,
  run: Run,
  { isNewUnit, isChanged, starts }: { isNewUnit: boolean; isChanged: boolean; starts: boolean },
): Promise<Step[]> {
  const isStale = (await said(run, 'show', '--property=NeedDaemonReload', '--value', UNIT)) === 'yes'
  const isActive = (await serviceState(run)) === 'active'
  const step = (what: string, isDone: boolean, ...args: string[]): Step => ({
    what,
    path: join(root, UNIT_FILE),
    isDone,
    act: () => systemctl(run, ...args),
  })
  const start: Step = {
    ...step('start', isActive && !isChanged),
    // Whether it started is what the wait for its health says.
    act: async () => void (await run('systemctl', isActive ? 'restart' : 'start', UNIT)),
  }
  return [
    step('reload', !isNewUnit && !isStale, 'daemon-reload'),
    step('enable', (await said(run, 'is-enabled', UNIT)) === 'enabled', 'enable', UNIT),
    ...(starts ? [start] : []),
  ]
}

/** What ends it, before its unit goes. */
export function stopSteps({ root }: Machine, run: Run): Step[] {
  const step = (what: string, verb: string): Step => ({
    what,
    path: join(root, UNIT_FILE),
    isDone: false,
    act: () => systemctl(run, verb, UNIT),
  })
  return [step('stop', 'stop'), step('disable', 'disable')]
}

export const reloadStep = ({ root }: Machine, run: Run): Step => ({
  what: 'reload',
  path: join(root, UNIT_FILE),
  isDone: false,
  act: () => systemctl(run, 'daemon-reload'),
})

const systemctl = async (run: Run, ...args: string[]): Promise<void> =>
  requireRan(`systemctl ${args.join(' ')}`, await run('systemctl', ...args))

const said = async (run: Run, ...args: string[]): Promise<string> =>
  (await run('systemctl', ...args))?.text.trim() ?? ''
