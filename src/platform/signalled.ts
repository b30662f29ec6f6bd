import type { Log } from './log.ts'

/** Resolves when a supervisor or Ctrl-C asks the process to end. */
export const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })

/** Supervisors and logrotate send SIGHUP to mean "reload". It must not end a server that has nothing to reload. */
export function outliveHangUp(log: Log): void {
  process.on('SIGHUP', () => log.info('SIGHUP: settings stay as they are until a restart'))
}
