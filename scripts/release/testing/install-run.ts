import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onSmallDisk } from '../../../src/testing/server-process.ts'
import { type Ended, runIn } from './run-in.ts'

/** A machine on which install.sh runs: a home, a folder for temporary files and a PATH. */
export type InstallHome = {
  home: string
  /** What install.sh left in the folder for temporary files. */
  left(): string[]
  /** A PATH with these programs of this machine, and with scripts in the place of others. */
  path(programs: readonly string[], scripts?: Readonly<Record<string, string>>): string
  run(shell: string, args: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** With a disk of so many KiB for temporary files. */
  runOnSmallDisk(kib: number, args: readonly string[]): Promise<Ended>
  remove(): void
}

/** What install.sh needs beside a way to fetch, to sum and to check a signature. */
export const TOOLS = 'cat chmod cp cut date mkdir mktemp mv rm sed sleep uname wc ldd dash bash'.split(' ')

export function installHome(script: string): InstallHome {
  const root = mkdtempSync(join(tmpdir(), 'svc-install-test-'))
  const [home, temporary] = [join(root, 'home'), join(root, 'tmp')]
  for (const folder of [home, temporary]) mkdirSync(folder)
  const settings = { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary }
  let paths = 0
  return {
    home,
    left: () => readdirSync(temporary),
    path(programs, scripts = {}) {
      const folder = join(root, `path-${paths++}`)
      mkdirSync(folder)
      for (const program of programs) symlinkSync(Bun.which(program) ?? '', join(folder, program))
      for (const [name, text] of Object.entries(scripts))
        writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
      return folder
    },
    run: (shell, args, env = {}) =>
      runIn(home, [Bun.which(shell) ?? shell, script, ...args], { ...settings, ...env }),
    runOnSmallDisk: (kib, args) =>
      runIn(home, [...onSmallDisk(temporary, kib / 1024), 'dash', script, ...args], settings),
    remove: () => rmSync(root, { recursive: true }),
  }
}
