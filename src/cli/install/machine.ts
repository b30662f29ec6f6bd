import { resolve } from 'node:path'
import { shellWord } from '../../domain/shell-word.ts'
import { IS_COMPILED } from '../../platform/is-compiled.ts'
import { managedBy } from '../../platform/managed.ts'
import { CommandFailure, type Io } from '../command.ts'
import { programsOf, type Run } from './programs.ts'

/** What this process is and runs on. Tests bring their own. */
export type Host = {
  isLinux: boolean
  isRoot: boolean
  /** Where its file system begins. */
  root: string
  /** Where this executable lies, and what its bytes are read from; null where svc runs from its sources. */
  executable: { path: string; bytes: string } | null
}

export const thisHost = (): Host => ({
  isLinux: process.platform === 'linux',
  isRoot: process.geteuid?.() === 0,
  root: '/',
  // Somebody may have put another one in its place since it was started.
  executable: IS_COMPILED ? { path: process.execPath, bytes: '/proc/self/exe' } : null,
})

/** What is set up: the machine, or a folder that is to become one. */
export type Machine = {
  root: string
  /** Null in a folder, where nothing may be run. */
  run: Run | null
  executable: { path: string; bytes: string }
}

/** The command line as it was typed, behind `svc`. */
type Asked = { io: Io; name: string; args: readonly string[]; root: string | undefined }

/** Throws where this command can do nothing. contract 19.3. */
export function machineOf(host: Host, { io, name, args, root }: Asked): Machine {
  const { executable } = host
  if (!host.isLinux) throw new CommandFailure('this is for Linux with systemd')
  if (executable === null)
    throw new CommandFailure('it runs from its sources: npm run build makes dist/svc, which has this command')
  const manager = managedBy(io.env, executable.path)
  if (manager === 'deb' || manager === 'docker') throw new CommandFailure(MANAGED[manager])
  if (root !== undefined) return { root: resolve(io.cwd, root), run: null, executable }
  if (!host.isRoot) {
    const line = ['sudo', executable.path, name, ...args].map(shellWord).join(' ')
    throw new CommandFailure(`only root may do this: ${line}`)
  }
  return { root: host.root, run: programsOf(io.env), executable }
}

const MANAGED = {
  deb: 'this svc belongs to its package, which has set up the service: settings are in /etc/svc.env; apt installs, upgrades and removes it',
  docker:
    'this svc belongs to its image: give settings to docker run, and pull another image in place of this command',
} as const

/** Throws where no systemd is running. */
export async function requireSystemd(run: Run): Promise<void> {
  const state = (await run('systemctl', 'is-system-running'))?.text.trim()
  if (state === undefined || state === 'offline')
    throw new CommandFailure(
      'systemd does not run on this machine, so there is no service to set up or to stop: run svc serve, or name a folder with --root DIR',
    )
}
