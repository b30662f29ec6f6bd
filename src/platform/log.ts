import type { LogFormat, LogLevel } from '../config/config.ts'

/** Writes one line per event to stdout: JSON, or text for a terminal. Never pass it a token, password or secret. */
export type Log = {
  debug: LogLine
  info: LogLine
  warn: LogLine
  error: LogLine
  /** False if `info` lines are dropped, so that the hot path need not build them. */
  isInfo: boolean
}
type LogLine = (message: string, fields?: Record<string, unknown>) => void

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

export function createLog(options: {
  level: LogLevel
  format: LogFormat
  now: () => number
  write: (text: string) => void
}): Log {
  const least = LEVELS.indexOf(options.level)
  const line = (level: LogLevel): LogLine => {
    if (LEVELS.indexOf(level) < least) return () => {}
    return (message, fields = {}) => {
      const time = new Date(options.now()).toISOString()
      options.write(
        options.format === 'json'
          ? jsonLine(time, level, message, fields)
          : prettyLine(time, level, message, fields),
      )
    }
  }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    isInfo: LEVELS.indexOf('info') >= least,
  }
}

function jsonLine(time: string, level: string, message: string, fields: Record<string, unknown>): string {
  const start = { time, level, message }
  const names = Object.keys(fields).join(', ')
  const line = jsonOf({ ...start, ...fields }) ?? JSON.stringify({ ...start, unwritable: names })
  return `${line}\n`
}

function prettyLine(time: string, level: string, message: string, fields: Record<string, unknown>): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${shown(value)}`)
  return `${time.slice(11, 23)} ${level.padEnd(5)} ${printable(message)}${rest.join('')}\n`
}

function shown(value: unknown): string {
  if (value instanceof Error) return (value.stack ?? value.message).split('\n').map(printable).join('\n')
  return printable(typeof value === 'string' ? value : (jsonOf(value) ?? '-'))
}

/** Undefined for anything that JSON cannot represent or that is nested too deeply: logging must never throw. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, errorsAsText)
  } catch {
    return undefined
  }
}

/** A visitor's text must not move the operator's cursor or fake a log line. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?')

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  return { error: value.stack ?? value.message, ...(value.cause === undefined ? {} : { cause: value.cause }) }
}
