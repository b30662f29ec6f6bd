/**
 * The number of rounds of a long test: `whole` in `npm run test:long` and `npm run test:crash`, `share` in `npm test`,
 * which runs the same code in seconds.
 */
export const rounds = (share: number, whole: number): number => (IS_LONG_RUN ? whole : share)

/**
 * The seed of a property test: `SVC_TEST_SEED`, else a new one in each run. It is printed, so that what failed can be
 * run again.
 */
export function seedOf(name: string): number {
  const given = Number(process.env['SVC_TEST_SEED'])
  const seed = given > 0 ? given : crypto.getRandomValues(new Uint32Array(1))[0] || 1
  console.log(`${name}: SVC_TEST_SEED=${seed}`)
  return seed
}

const IS_LONG_RUN = process.env['SVC_TEST_LONG'] === '1'
