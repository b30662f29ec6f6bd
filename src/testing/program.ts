import { join } from 'node:path'

const SOURCES = [process.execPath, join(import.meta.dir, '..', 'main.ts')]

/**
 * What `npm test` built, whose start takes half as long; undefined where some files are tested by themselves. As what they
 * were built from may have changed since, those run the sources.
 */
export const EXECUTABLE = process.env['SVC_TEST_EXECUTABLE']

/** The command that runs the real program. `env` is what it gets: what is to be loaded before it needs the sources. */
export const programWith = (env: Record<string, string> = {}): string[] =>
  EXECUTABLE === undefined || 'BUN_OPTIONS' in env ? SOURCES : [EXECUTABLE]
