import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Commands, Io } from '../command.ts'
import type { Host } from '../install/machine.ts'
import { installOn } from '../install.ts'
import { runCommand } from '../run-command.ts'
import { uninstallOn } from '../uninstall.ts'
import { testIo } from './test-io.ts'

/** A machine in a folder, whose programs are stand-ins that write down how they were called. */
export type TestMachine = {
  root: string
  run(
    args: string[],
    /** `isTimed`: what it waits for takes its time. */
    given?: { host?: Partial<Host>; env?: Io['env']; isTimed?: boolean },
  ): Promise<{ code: number; out: string; err: string }>
  /** The lines of the programs that were called since the last look, without those that only ask. */
  calls(): string[]
  /** What systemd says from now on: `system`, `active`, `after-start`, `enabled`, `reload`, `log`. */
  says(about: string, text: string): void
  put(path: string, content: string | Uint8Array, mode?: number): void
  text(path: string): string
  mode(path: string): string
  /** Everything below a folder: kind, mode and content of each path. */
  tree(path?: string): Record<string, string>
  remove(): void
}

const ASKS = /^(systemctl (is-|show|status)|journalctl)/

/** Root gives folders to another user; who is not root can give them to nobody else. */
export const SERVICE_UID = process.getuid?.() || 65_534

/** Each appends its command line to a log, then acts on files of its own. */
const STAND_INS: Readonly<Record<string, string>> = {
  systemctl: `case "$1" in
is-system-running) cat system ;;
is-active) cat active ;;
is-enabled) cat enabled ;;
show) case "$2" in *Reload) cat reload ;; esac ;;
start|restart) cat after-start > active ;;
stop) echo inactive > active ;;
enable) echo enabled > enabled ;;
disable) echo disabled > enabled ;;
daemon-reload) echo no > reload ;;
esac`,
  journalctl: 'cat log',
  useradd: `mkdir -p "$ROOT/etc"
echo "svc:x:${SERVICE_UID}:${SERVICE_UID}::/var/lib/svc:/usr/sbin/nologin" >> "$ROOT/etc/passwd"
case "$*" in *--user-group*) echo "svc:x:${SERVICE_UID}:" >> "$ROOT/etc/group" ;; esac`,
  groupadd: `echo "svc:x:${SERVICE_UID}:" >> "$ROOT/etc/group"`,
  userdel: `grep -v ^svc: "$ROOT/etc/passwd" > passwd; cat passwd > "$ROOT/etc/passwd"`,
  groupdel: `grep -v ^svc: "$ROOT/etc/group" > group; cat group > "$ROOT/etc/group"`,
}

const AT_FIRST = {
  system: 'running',
  active: 'inactive',
  'after-start': 'active',
  enabled: 'disabled',
  reload: 'no',
  log: '',
  calls: '',
}

export function testMachine(): TestMachine {
  const folder = mkdtempSync(join(tmpdir(), 'svc-install-'))
  const [root, bin, state] = [join(folder, 'root'), join(folder, 'bin'), join(folder, 'state')]
  for (const one of [root, bin, state]) mkdirSync(one)
  const executable = join(folder, 'svc')
  writeFileSync(executable, `the executable ${'x'.repeat(2 * 1024 * 1024)}`, { mode: 0o755 })
  const says = (about: string, text: string) => writeFileSync(join(state, about), text)
  for (const [about, text] of Object.entries(AT_FIRST)) says(about, text)
  for (const [name, act] of Object.entries(STAND_INS))
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nROOT='${root}'\ncd '${state}'\necho "${name} $*" >> calls\n${act}\n`,
      { mode: 0o755 },
    )
  const host: Host = {
    isLinux: true,
    isRoot: true,
    root,
    executable: { path: executable, bytes: executable },
  }
  return {
    root,
    says,
    run: (args, { host: its, env, isTimed } = {}) =>
      runOn({ ...host, ...its }, args, {
        cwd: folder,
        env: { PATH: bin, ...env },
        ...(isTimed ? REAL_TIME : noTime()),
      }),
    calls() {
      const lines = readFileSync(join(state, 'calls'), 'utf8').split('\n')
      says('calls', '')
      return lines.filter((line) => line !== '' && !ASKS.test(line))
    },
    ...filesOf(root),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function runOn(host: Host, args: string[], given: Partial<Io>) {
  const io = testIo(given)
  const commands: Commands = {
    install: () => installOn(() => host),
    uninstall: () => uninstallOn(() => host),
  }
  const code = await runCommand(commands, args, io, 'install')
  return { code, out: io.out(), err: io.err() }
}

const REAL_TIME: Partial<Io> = { nowMs: () => performance.now(), sleep: (ms) => Bun.sleep(ms) }

/** What is waited for is over at once. */
function noTime(): Partial<Io> {
  let clockMs = 0
  return {
    nowMs: () => clockMs,
    sleep: async (ms) => {
      clockMs += ms
    },
  }
}

const filesOf = (root: string): Pick<TestMachine, 'put' | 'text' | 'mode' | 'tree'> => ({
  put(path, content, mode = 0o644) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
    chmodSync(join(root, path), mode)
  },
  text: (path) => readFileSync(join(root, path), 'utf8'),
  mode: (path) => (lstatSync(join(root, path)).mode & 0o7777).toString(8),
  tree(path = '/') {
    const top = join(root, path)
    if (!existsSync(top)) return {}
    const paths = readdirSync(top, { recursive: true, encoding: 'utf8' }).sort()
    return Object.fromEntries(paths.map((one) => [one, shown(join(top, one))]))
  },
})

function shown(path: string): string {
  const facts = lstatSync(path)
  const mode = (facts.mode & 0o7777).toString(8)
  if (facts.isSymbolicLink()) return `link ${readlinkSync(path)}`
  if (facts.isDirectory()) return `folder ${mode}`
  return `${mode} ${facts.ino} ${Bun.hash(readFileSync(path))}`
}
