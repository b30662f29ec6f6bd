import { type Io, printable } from '../command.ts'

/** Shows progress on stderr: a bar on a terminal, elsewhere a line now and then. */
export type Progress = {
  /** `total.bytes` is 0 when only the number of files is known. */
  begin(label: string, total: Amount): void
  add(bytes: number, files: number): void
  /** Clears the bar. */
  end(): void
  /** Prints a separate line. */
  note(text: string): void
}

export type Amount = { bytes: number; files: number }

const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 10_000
const BAR_WIDTH = 24
const CLEAR_LINE = '\r\x1b[K'

export function createProgress({ stderr, isTerminal, nowMs }: Io): Progress {
  let label = ''
  let total: Amount = { bytes: 0, files: 0 }
  let done: Amount = { bytes: 0, files: 0 }
  let startedMs = 0
  let shownMs = 0

  const show = () => {
    const text = `${label} ${amounts(done, total)}, ${rate(done.bytes, nowMs() - startedMs)}`
    stderr.write(isTerminal ? `${CLEAR_LINE}${bar(done, total)} ${text}` : `${text}\n`)
    shownMs = nowMs()
  }
  const clear = () => {
    if (isTerminal) stderr.write(CLEAR_LINE)
  }
  return {
    begin(newLabel, newTotal) {
      clear()
      label = newLabel
      total = newTotal
      done = { bytes: 0, files: 0 }
      startedMs = shownMs = nowMs()
      if (!isTerminal) stderr.write(`${label} ${describeAmount(total)}\n`)
    },
    add(bytes, files) {
      done = { bytes: done.bytes + bytes, files: done.files + files }
      if (nowMs() - shownMs >= (isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS)) show()
    },
    end: clear,
    note(text) {
      clear()
      stderr.write(`${printable(text)}\n`)
    },
  }
}

/** Decimal, as disks and networks are sold: `0 B`, `999 B`, `12.3 kB`, `4.5 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

/** `3 files, 1.2 kB`; without the size when it is 0. */
export function describeAmount({ bytes, files }: Amount): string {
  const count = files === 1 ? '1 file' : `${files} files`
  return bytes === 0 ? count : `${count}, ${formatBytes(bytes)}`
}

function bar(done: Amount, total: Amount): string {
  const share = Math.min(total.bytes === 0 ? done.files / total.files : done.bytes / total.bytes, 1)
  const filled = Math.round(share * BAR_WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

function amounts(done: Amount, total: Amount): string {
  const bytes = total.bytes === 0 ? '' : ` of ${formatBytes(total.bytes)}`
  return `${formatBytes(done.bytes)}${bytes}, ${done.files}/${total.files} files`
}

function rate(bytes: number, elapsedMs: number): string {
  return elapsedMs <= 0 ? '' : `${formatBytes(Math.round((bytes * 1_000) / elapsedMs))}/s`
}
