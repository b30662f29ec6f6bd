import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** USER_HZ, which is 100 on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100

/** User and system time in seconds of a process and its living children (nginx does its work in a worker). */
export function cpuSeconds(pid: number): number {
  const ticks = processTree(pid).map((each) => {
    const fields = statFields(each)
    return Number(fields[11]) + Number(fields[12])
  })
  return sum(ticks) / TICKS_PER_SECOND
}

/** The same of the process alone in microseconds, as exactly as the scheduler counts: for a handful of requests. */
export function threadMicros(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      return 0 // it ended while we were listing
    }
  })
  return sum(threads) / 1000
}

/** Proportional set size in MB (10^6 bytes) of a process and its children: memory shared between them counts once. */
export function pssMegabytes(pid: number): number {
  return sum(processTree(pid).map((each) => kilobytes(`/proc/${each}/smaps_rollup`, 'Pss'))) / 1000
}

/** Highest resident size in MB since the start or `resetPeak`. */
export function peakMegabytes(pid: number): number {
  return kilobytes(`/proc/${pid}/status`, 'VmHWM') / 1000
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Waits until the process does nothing for 400 ms, so that work in the background does not fall into the next round. */
export async function untilQuiet(pid: number, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs
  let before = cpuSeconds(pid)
  while (performance.now() < end) {
    await Bun.sleep(400)
    const now = cpuSeconds(pid)
    if (now - before < 0.02) return
    before = now
  }
}

function processTree(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const)
  const tree = [root]
  for (const pid of tree) tree.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child))
  return tree
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statFields(pid)[1])
  } catch {
    return undefined // it ended while we were listing
  }
}

/** The fields after the command name, which may itself hold spaces and brackets: state, ppid, … utime is the 12th. */
function statFields(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')
}

/** Reads a `Name:  123 kB` line. The kernel's kB are 1024 bytes. */
function kilobytes(file: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))
  if (match === null) throw new Error(`${file} has no ${name}`)
  return (Number(match[1]) * 1024) / 1000
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
