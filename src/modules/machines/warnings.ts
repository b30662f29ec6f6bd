import type { MachineView } from './model.ts'

/** What an admin should do something about. */
export type MachineWarning = { kind: 'standby' | 'behind' | 'silent' | 'version'; message: string }

/** Machines report every 10 seconds. */
const SILENT_MS = 30_000
const BEHIND_MS = 5_000

/** Whether a machine has not reported for a while; `now` in milliseconds since 1970. */
export const isSilent = ({ lastSeenAt }: Pick<MachineView, 'lastSeenAt'>, now: number): boolean =>
  now - Date.parse(lastSeenAt) > SILENT_MS

/** Of the machines of an object store, as the first of them knows the others: by `NODE_SECRET`. contract 18 §7. */
export function machineWarnings(
  machines: readonly MachineView[],
  { now, hasSecret }: { now: number; hasSecret: boolean },
): MachineWarning[] {
  const [own, ...others] = machines
  if (own === undefined) return []
  const heard = others.filter((other) => !isSilent(other, now))
  return [
    ...(heard.some(({ role }) => role === 'standby')
      ? []
      : [hasSecret ? withoutStandby(own) : withoutSecret(own)]),
    ...heard.filter(({ lagMs }) => lagMs > BEHIND_MS).map(behind),
    ...others.filter((other) => isSilent(other, now)).map(silent),
    ...heard.filter(({ version }) => version !== own.version).map((other) => otherVersion(other, own)),
  ]
}

const withoutStandby = ({ name }: MachineView): MachineWarning => ({
  kind: 'standby',
  message: `No stand-by follows ${name}: if it is lost, nothing can be changed until another machine is started.`,
})

const withoutSecret = ({ name }: MachineView): MachineWarning => ({
  kind: 'standby',
  message: `No stand-by follows ${name} as far as it can know: machines that follow say so only where NODE_SECRET is set on all of them.`,
})

const behind = ({ name, lagMs }: MachineView): MachineWarning => ({
  kind: 'behind',
  message: `${name} is ${Math.round(lagMs / 1000)} s behind: it shows sites as they were then.`,
})

const silent = ({ name }: MachineView): MachineWarning => ({
  kind: 'silent',
  message: `${name} does not report any more: it is stopped, or cannot reach this machine.`,
})

const otherVersion = ({ name, version }: MachineView, own: MachineView): MachineWarning => ({
  kind: 'version',
  message: `${name} runs version ${version}, and ${own.name} runs ${own.version}.`,
})
