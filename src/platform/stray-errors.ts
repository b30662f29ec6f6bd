import type { Log } from './log.ts'

/** An error that nobody caught belongs into the log, and the requests of others go on. */
export function logStrayErrors(log: Log): void {
  process.on('uncaughtException', (error) => log.error('an error was not caught', { error }))
  process.on('unhandledRejection', (error) => log.error('a rejection was not caught', { error }))
}
