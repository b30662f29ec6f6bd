import type { Log } from './log.ts'

/** Resolves when somebody ends the process, by a supervisor or by Ctrl-C. */
export const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

/** To a supervisor and to logrotate SIGHUP says "reload", which must not end a server that has nothing to read again. */
export function outliveHangUp(log: Log): void {
  process.on('SIGHUP', () => log.info('SIGHUP: settings stay as they are until a restart'))
}
