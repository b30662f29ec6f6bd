/**
 * The minimum that Argon2id accepts. With real costs, on low-priority threads, a busy machine would still be hashing
 * when the test times out.
 */
const COSTS = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

export const CHEAP = { costs: COSTS, decoy: Bun.password.hashSync('of nobody', COSTS) }
