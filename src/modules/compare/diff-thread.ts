// The text of the file, which has no imports itself.
import library from 'diff/lib/diff/base.js' with { type: 'text' }
import { AppError } from '../../domain/errors.ts'
import { fairQueue } from '../../platform/fair-queue.ts'
import { niceThreads } from '../../platform/nice-threads.ts'
// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './diff-program.ts' with { type: 'text' }
import type { DiffAnswer, DiffJob } from './diff-program.ts'

export type { Hunk } from './diff-program.ts'

/** As for large reads: such a thread gets about a third of a core that the server also wants. */
const NICENESS = 5

const diff = niceThreads<DiffJob, DiffAnswer>({
  niceness: NICENESS,
  failure: 'Two files could not be compared',
  program: `${library as unknown as string}\n${program}`,
})

/** One at a time, because one may take a second. Projects take turns. */
const inTurn = fairQueue({
  waitingOfOne: 64,
  waiting: 512,
  refusal: () =>
    new AppError('unavailable', 'Too many files are compared at once. Try again in a few seconds.', {
      headers: { 'retry-after': '5' },
    }),
})

/** The differences of two contents of at most 1 MiB each. Throws `unavailable` if too many wait. */
export const diffOnThread = (projectId: string, job: DiffJob): Promise<DiffAnswer> =>
  inTurn(projectId, () => diff(job))
