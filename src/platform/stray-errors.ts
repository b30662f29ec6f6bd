import type { Log } from './log.ts'

/** Logs uncaught errors instead of ending the process, so that other requests continue. */
export function logStrayErrors(log: Log): void {
  process.on('uncaughtException', (error) => log.error('an error was not caught', { error }))
  process.on('unhandledRejection', (error) => log.error('a rejection was not caught', { error }))
}
